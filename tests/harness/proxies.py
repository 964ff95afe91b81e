"""Faults between Fjord and what it talks to: an HTTP proxy that loses answers, and a TCP relay that can be cut."""

import http.client
import http.server
import re
import socket
import threading
import urllib.parse


class HttpProxy:
    """Passes HTTP requests on. Runs in threads of the test process; subclasses meddle in handle()."""

    def __init__(self, upstream):
        target = urllib.parse.urlsplit(upstream)
        self.upstream = (target.hostname, target.port)
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # else the body waits 40 ms for an acknowledgement of the head

            def handle_any(self):
                proxy.handle(self, self.rfile.read(int(self.headers.get("Content-Length") or 0)))

            do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = handle_any

            def log_message(self, *arguments):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.uri = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def handle(self, request, body):
        headers = {k: v for k, v in request.headers.items() if k.lower() not in ("connection",)}
        answer(request, *self.pass_on(request, body, headers))

    def pass_on(self, request, body, headers):
        """(status, body, headers) of the upstream's answer."""
        connection = http.client.HTTPConnection(*self.upstream, timeout=60)
        connection.request(request.command, request.path, body=body or None, headers=headers)
        response = connection.getresponse()
        passed = response.status, response.read(), response.getheaders()
        connection.close()
        return passed

    def close(self):
        self._server.shutdown()
        self._server.server_close()


class HttpFaultProxy(HttpProxy):
    """Harms requests that a rule matches.

    Each of the functions adds a rule for requests whose "METHOD /path" matches; rules are used up from the first on.
    """

    def __init__(self, upstream):
        self.seen = []
        self._rules = []
        self._lock = threading.Lock()
        super().__init__(upstream)

    def lose_answer(self, pattern, times=1):
        """The request is carried out; the caller sees a closed connection."""
        self._add(pattern, times, ("lose", None))

    def answer_status_after(self, pattern, status, times=1):
        """The request is carried out; the caller sees `status`."""
        self._add(pattern, times, ("after", status))

    def answer_status(self, pattern, status, times=1):
        """The request is not carried out; the caller sees `status`."""
        self._add(pattern, times, ("instead", status))

    def _add(self, pattern, times, action):
        with self._lock:
            self._rules += [(re.compile(pattern), action)] * times

    def pending(self):
        """Rules that no request has met yet."""
        with self._lock:
            return len(self._rules)

    def _take(self, text):
        with self._lock:
            self.seen.append(text)
            for i, (pattern, action) in enumerate(self._rules):
                if pattern.search(text):
                    del self._rules[i]
                    return action
        return (None, None)

    def handle(self, request, body):
        what, status = self._take(f"{request.command} {request.path}")
        injected = b'{"error":{"message":"injected","type":"Injected","code":%d}}' % (status or 0)
        if what == "instead":
            return answer(request, status, injected)
        headers = {k: v for k, v in request.headers.items() if k.lower() not in ("connection",)}
        passed = self.pass_on(request, body, headers)
        if what == "lose":
            request.close_connection = True
            request.connection.shutdown(socket.SHUT_RDWR)
        elif what == "after":
            answer(request, status, injected)
        else:
            answer(request, *passed)


def answer(request, status, body, headers=()):
    request.send_response_only(status)
    kept = [(k, v) for k, v in headers
            if k.lower() not in ("transfer-encoding", "connection", "content-length")]
    length = dict((k.lower(), v) for k, v in headers).get("content-length") if request.command == "HEAD" else None
    for name, value in kept or [("Content-Type", "application/json")]:
        request.send_header(name, value)
    request.send_header("Content-Length", length or str(len(body)))
    request.end_headers()
    if request.command != "HEAD":
        request.wfile.write(body)


class TcpRelay:
    """A TCP relay to `port` on loopback; cut() ends all connections, refuse()/accept() shut and open the door."""

    def __init__(self, port):
        self._target = port
        self._pairs = set()
        self._lock = threading.Lock()
        self._refusing = False
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            if self._refusing:
                near.close()
                continue
            try:
                far = socket.create_connection(("127.0.0.1", self._target))
            except OSError:
                near.close()
                continue
            with self._lock:
                self._pairs.add((near, far))
            for a, b in ((near, far), (far, near)):
                threading.Thread(target=self._pump, args=(a, b), daemon=True).start()

    @staticmethod
    def _pump(a, b):
        try:
            while data := a.recv(65536):
                b.sendall(data)
        except OSError:
            pass
        for s in (a, b):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut(self):
        with self._lock:
            pairs, self._pairs = self._pairs, set()
        for pair in pairs:
            for s in pair:
                try:
                    s.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
                s.close()

    def refuse(self):
        self._refusing = True
        self.cut()

    def accept(self):
        self._refusing = False

    def close(self):
        self._listener.close()
        self.cut()
