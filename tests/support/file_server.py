"""A local server of files, for http and for the part of the S3 protocol that Arrow uses."""

import contextlib
import io
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

UPLOAD = "<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>"
COMPLETE = '<CompleteMultipartUploadResult><ETag>"1"</ETag></CompleteMultipartUploadResult>'
NOT_FOUND = "<Error><Code>NoSuchKey</Code></Error>"
EMPTY_LIST = "<ListBucketResult><KeyCount>0</KeyCount><IsTruncated>false</IsTruncated></ListBucketResult>"


class Files(BaseHTTPRequestHandler):
    """Answer GET, HEAD and PUT of the files in a dict, and uploads in several parts."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        path, query = self.place()
        content = self.server.files.get(path)
        if content is None:
            if "list-type" in query:
                self.answer(200, EMPTY_LIST.encode())
            else:
                self.answer(404, NOT_FOUND.encode())
        elif path.endswith("cut.csv"):
            self.answer(200, content[:-3], {"Content-Length": str(len(content))})
            self.close_connection = True
        else:
            begin, _, end = self.headers.get("Range", "bytes=0-").removeprefix("bytes=").partition("-")
            last = int(end) if end else len(content) - 1
            part = content[int(begin) : last + 1]
            is_part = "Range" in self.headers
            span = {"Content-Range": f"bytes {begin}-{last}/{len(content)}"} if is_part else {}
            self.answer(206 if is_part else 200, part, span)

    do_HEAD = do_GET  # noqa: N815 - the name is fixed by http.server

    def do_PUT(self):
        path, query = self.place()
        body = self.body()
        if "uploadId" in query:
            self.server.parts.setdefault(path, {})[int(query["partNumber"][0])] = body
        else:
            self.server.files[path] = body
        self.answer(200, b"", {"ETag": '"1"'})

    def do_POST(self):
        path, query = self.place()
        self.body()
        if "uploads" in query:
            self.answer(200, UPLOAD.encode())
        else:
            parts = self.server.parts.pop(path)
            self.server.files[path] = b"".join(parts[number] for number in sorted(parts))
            self.answer(200, COMPLETE.encode())

    def place(self):
        found = urlsplit(self.path)
        return found.path, parse_qs(found.query, keep_blank_values=True)

    def body(self):
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            body = unchunked(self.rfile)
        else:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        # Clients of S3 sign each chunk of an upload.
        return unchunked(io.BytesIO(body)) if "aws" in self.headers.get("Content-Encoding", "") else body

    def answer(self, code, body, headers=None):
        self.send_response(code)
        given = {"Content-Length": str(len(body)), "ETag": '"1"'} | (headers or {})
        for name, value in given.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *arguments):
        """Print nothing."""


def unchunked(stream):
    """Return the content of chunks, each after a line with its size. Lines may follow the last chunk."""
    content = b""
    while size := int(stream.readline().partition(b";")[0], 16):
        content += stream.read(size)
        stream.readline()
    while stream.readline().strip():
        pass
    return content


@contextlib.contextmanager
def serving(files):
    """Serve a dict of paths and contents on a port of this machine, and yield host and port."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Files)
    server.files, server.parts = files, {}
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
