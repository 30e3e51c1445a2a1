// The whole test harness of the engine: a check that says where it failed, and a count for ctest's exit code.
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
