#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""put-server.py DIR: takes PUTs on a port of the loopback, which it prints, into DIR.

What DIR/mode says happens to the next one, which then is "good" again: "error" (500), "large" (413), "cut" (the connection
ends in the middle of the body), "deaf" (it is kept, and the connection ends before the answer), "half" (half of it is,
likewise), "slow" (it reads nothing for a while), "early" (it answers 200 and reads nothing), "endless" (its answer
has no end).  DIR/log gets a line for each request.
"""

import http.server
import pathlib
import socket
import sys
import time

root = pathlib.Path(sys.argv[1])


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status):
        with open(root / "log", "a") as log:
            log.write(f"{status} {self.path}\n")
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True

    def end(self, mode):
        with open(root / "log", "a") as log:
            log.write(f"{mode} {self.path}\n")
        self.connection.close()
        self.close_connection = True

    def do_HEAD(self):
        name = root / self.path.strip("/").replace("/", "_")
        self.send_response(200 if name.exists() else 404)
        self.send_header("Content-Length", str(name.stat().st_size) if name.exists() else "0")
        self.end_headers()

    def do_PUT(self):
        mode_file = root / "mode"
        mode = mode_file.read_text().strip() if mode_file.exists() else "good"
        mode_file.write_text("good")
        n = int(self.headers["Content-Length"])
        name = root / self.path.strip("/").replace("/", "_")
        if self.headers.get("Authorization") != "Bearer secret.1":
            self.rfile.read(n)
            return self.answer(401)
        if mode == "large":
            return self.answer(413)
        if mode == "cut":
            self.rfile.read(n // 2)
            return self.end(mode)
        if mode == "slow":
            time.sleep(6)
            return self.end(mode)
        if mode == "early":
            self.connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            self.connection.shutdown(socket.SHUT_WR)
            time.sleep(1)
            return self.end(mode)
        began = time.monotonic()
        body = self.rfile.read(n)
        with open(root / "times", "a") as times:
            times.write(f"{n} {time.monotonic() - began:.3f}\n")
        if len(body) < n:  # whoever sent it is gone
            return self.end("short")
        if mode == "error":
            return self.answer(500)
        if name.exists() and self.headers.get("If-None-Match") == "*":
            return self.answer(412)
        name.write_bytes(body[: n // 2] if mode == "half" else body)
        if mode in ("deaf", "half"):
            return self.end(mode)
        if mode == "endless":
            self.connection.sendall(b"HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n")
            try:
                while True:
                    self.connection.sendall(b"1000\r\n" + 4096 * b"x" + b"\r\n")
            except OSError:
                return self.end(mode)
        self.answer(201)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
