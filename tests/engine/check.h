// The test harness: a check that prints where it failed, and the exit code for ctest.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <source_location>

inline int& failures() {
    static int count = 0;
    return count;
}

inline void check(bool holds, const char* what = "", std::source_location at = std::source_location::current()) {
    if (holds) return;
    ++failures();
    std::fprintf(stderr, "%s:%u: check failed %s\n", at.file_name(), at.line(), what);
}

inline int report() { return failures() == 0 ? EXIT_SUCCESS : EXIT_FAILURE; }
