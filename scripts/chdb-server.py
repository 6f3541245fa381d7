"""
ClickHouse's HTTP interface, as far as the checks need it, before ClickHouse as a library (chdb).

Usage: chdb-server.py <folder> <user> <password>. Prints the port. Ends when its standard input ends.
"""
import base64
import os
import sys
import threading
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

import chdb

FOLDER, USER, PASSWORD = sys.argv[1:4]
NO_SETTINGS = {"query", "database", "query_id", "session_id", "default_format", "role"}
# Keeps the tables while no request is there.
KEEPER = chdb.connect(FOLDER)


def quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def run(fields):
    """Each request has a connection of its own, so that its settings end with it."""
    connection = chdb.connect(FOLDER)
    try:
        if "database" in fields:
            connection.query(f"use `{fields['database']}`")
        settings = {
            name: value
            for name, value in fields.items()
            if name not in NO_SETTINGS and not name.startswith("param_")
        }
        # All at once, because the first one may be `readonly`.
        if settings:
            connection.query("set " + ", ".join(f"{name} = {quoted(value)}" for name, value in settings.items()))
        params = {name[6:]: value for name, value in fields.items() if name.startswith("param_")}
        result = connection.query(fields["query"], fields.get("default_format", "TabSeparated"), params=params or None)
        return result.bytes() if result is not None else b""
    finally:
        connection.close()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        fields = dict(parse_qsl(urlsplit(self.path).query, keep_blank_values=True))
        body = self.read_body()
        kind = self.headers.get("Content-Type", "")
        if kind.startswith("multipart/form-data"):
            message = BytesParser(policy=HTTP).parsebytes(b"Content-Type: " + kind.encode() + b"\r\n\r\n" + body)
            for part in message.iter_parts():
                name = part.get_param("name", header="content-disposition")
                fields[name] = part.get_payload(decode=True).decode()
        else:
            fields["query"] = fields.get("query", "") + body.decode()
        if not self.is_known():
            return self.answer(
                403, f"Code: 516. DB::Exception: {USER}: Authentication failed. (AUTHENTICATION_FAILED)".encode(), 516
            )
        try:
            self.answer(200, run(fields))
        except Exception as error:
            text = str(error)
            self.answer(400, text.encode(), text.partition("Code: ")[2].partition(".")[0] or 1)

    def is_known(self):
        expected = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        return self.headers.get("Authorization") == f"Basic {expected}"

    def read_body(self):
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def answer(self, status, body, code=None):
        self.send_response(status)
        if code is not None:
            self.send_header("X-ClickHouse-Exception-Code", str(code))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_address[1], flush=True)
sys.stdin.read()
# The library complains if it is unloaded.
os._exit(0)
