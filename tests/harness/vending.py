"""A REST catalog that hands out short-lived S3 keys with each table, and the S3 door that takes only these.

Both are proxies: VendingCatalog in front of a REST catalog without keys, S3Door in front of an S3 server with static ones. A
key opens the objects of one table, until it expires.
"""

import dataclasses
import datetime
import hashlib
import hmac
import json
import secrets
import threading
import time
import urllib.parse

from harness.proxies import HttpProxy, answer

UNSIGNED = "UNSIGNED-PAYLOAD"
CREDENTIALS_ENDPOINT = "GET /v1/{prefix}/namespaces/{namespace}/tables/{table}/credentials"


@dataclasses.dataclass
class Key:
    id: str
    secret: str
    token: str
    location: str  # s3://bucket/folder of a table
    expires: float

    def opens(self, path, query):
        """Whether the path, or the prefix that is listed, is below the table's location."""
        folder = self.location.removeprefix("s3:/") + "/"
        listed = dict(query).get("prefix")
        return (path.rstrip("/") + "/" + listed if listed else path).startswith(folder)


class S3Door(HttpProxy):
    """Checks the signature of each request against the keys that were made here, and signs it anew for the server."""

    def __init__(self, upstream, access_key, secret_key, region):
        self.region = region
        self.refusals = []  # the error codes
        self._upstream_key = Key(access_key, secret_key, "", "", 0)
        self._keys = {}
        self._used = {}  # by key id, the number of requests
        self._lock = threading.Lock()
        super().__init__(upstream)

    def make_key(self, location, lifetime_s):
        key = Key("AK" + secrets.token_hex(8), secrets.token_hex(16), secrets.token_hex(16), location,
                  time.time() + lifetime_s)
        with self._lock:
            self._keys[key.id] = key
        return key

    def end_all(self):
        """Every key that was handed out expires now, whatever was said of it."""
        with self._lock:
            for key in self._keys.values():
                key.expires = 0

    def keys_used(self, location):
        with self._lock:
            return sum(self._keys[i].location == location for i in self._used)

    def secrets(self):
        with self._lock:
            return [text for key in self._keys.values() for text in (key.secret, key.token)]

    def handle(self, request, body):
        path, _, query_text = request.path.partition("?")
        query = urllib.parse.parse_qsl(query_text, keep_blank_values=True)
        code = self._refusal(request, path, query)
        if code:
            with self._lock:
                self.refusals.append(code)
            text = f"<Error><Code>{code}</Code><Message>{code}</Message></Error>".encode()
            status = 400 if code == "ExpiredToken" else 403
            return answer(request, status, text, [("Content-Type", "application/xml")])
        headers = {k.lower(): v for k, v in request.headers.items()
                   if k.lower() not in ("connection", "authorization", "host", "x-amz-security-token")}
        headers |= {"host": f"{self.upstream[0]}:{self.upstream[1]}", "x-amz-content-sha256": UNSIGNED,
                    "x-amz-date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")}
        signed = sorted(k for k in headers if k == "host" or k.startswith("x-amz-"))
        scope = f"{headers['x-amz-date'][:8]}/{self.region}/s3/aws4_request"
        signature = _signature(self._upstream_key, request.command, path, query, headers, signed, scope)
        headers["authorization"] = (f"AWS4-HMAC-SHA256 Credential={self._upstream_key.id}/{scope},"
                                    f" SignedHeaders={';'.join(signed)}, Signature={signature}")
        answer(request, *self.pass_on(request, body, headers))

    def _refusal(self, request, path, query):
        """The error code of a request that may not pass, or None."""
        headers = {k.lower(): v.strip() for k, v in request.headers.items()}
        parts = dict(p.strip().split("=", 1)
                     for p in headers.get("authorization", "").removeprefix("AWS4-HMAC-SHA256 ").split(",") if "=" in p)
        key_id, _, scope = parts.get("Credential", "").partition("/")
        with self._lock:
            key = self._keys.get(key_id)
            if key is None:
                return "InvalidAccessKeyId"
            self._used[key_id] = self._used.get(key_id, 0) + 1
        if headers.get("x-amz-security-token") != key.token:
            return "InvalidToken"
        signed = parts["SignedHeaders"].split(";")
        if _signature(key, request.command, path, query, headers, signed, scope) != parts["Signature"]:
            return "SignatureDoesNotMatch"
        if time.time() >= key.expires:
            return "ExpiredToken"
        return None if key.opens(urllib.parse.unquote(path), query) else "AccessDenied"


def _signature(key, method, path, query, headers, signed, scope):
    """AWS Signature Version 4; the path is percent-encoded already."""
    pairs = sorted((urllib.parse.quote(k, safe="-_.~"), urllib.parse.quote(v, safe="-_.~")) for k, v in query)
    request = "\n".join([method, path, "&".join(f"{k}={v}" for k, v in pairs),
                         *(f"{name}:{headers[name]}" for name in signed), "", ";".join(signed),
                         headers["x-amz-content-sha256"]])
    text = "\n".join(["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, hashlib.sha256(request.encode()).hexdigest()])
    signing = f"AWS4{key.secret}".encode()
    for part in [*scope.split("/"), text]:
        signing = hmac.new(signing, part.encode(), hashlib.sha256).digest()
    return signing.hex()


class VendingCatalog(HttpProxy):
    """Adds an S3 address and a new key to each answer that loads or makes a table, if the caller asks for keys.

    lifetime_s: of the keys handed out from now on. in_config: the key is in `config` and not in `storage-credentials`, and
    there is no endpoint for credentials. hands_out: whether there are keys at all.
    """

    def __init__(self, upstream, door, lifetime_s, *, in_config=False, hands_out=True):
        self.door = door
        self.lifetime_s = lifetime_s
        self.in_config = in_config
        self.hands_out = hands_out
        self.credentials_requests = 0
        self._locations = {}  # by path of the table
        super().__init__(upstream)

    def location(self, namespace, table):
        return self._locations[f"/v1/namespaces/{namespace}/tables/{table}"]

    def handle(self, request, body):
        path = request.path.partition("?")[0]
        if path.endswith("/credentials"):
            self.credentials_requests += 1
            told = {"storage-credentials": self._credentials(self._locations[path.removesuffix("/credentials")])}
            return answer(request, 200, json.dumps(told).encode())
        headers = {k: v for k, v in request.headers.items() if k.lower() not in ("connection", "accept-encoding")}
        status, text, answer_headers = self.pass_on(request, body, headers)
        if status == 200 and text:
            text = self._changed(request, path, json.loads(text))
        answer(request, status, text, answer_headers)

    def _changed(self, request, path, told):
        if path == "/v1/config" and not self.in_config:
            told["endpoints"].append(CREDENTIALS_ENDPOINT)
        is_commit = request.command == "POST" and not path.endswith("/tables")
        asked = "vended-credentials" in request.headers.get("X-Iceberg-Access-Delegation", "")
        if "metadata" in told and not is_commit:
            location = told["metadata"]["location"]
            name = path if request.command == "GET" else f"{path}/{location.rsplit('/', 1)[1]}"
            self._locations[name] = location
            told["config"] = {"s3.endpoint": self.door.uri, "s3.region": self.door.region,
                              "s3.path-style-access": "true"}
            if asked and self.hands_out and self.in_config:
                told["config"] |= self._key_settings(location)
            elif asked and self.hands_out:
                told["storage-credentials"] = self._credentials(location)
        return json.dumps(told).encode()

    def _credentials(self, location):
        return [{"prefix": location, "config": self._key_settings(location)}]

    def _key_settings(self, location):
        key = self.door.make_key(location, self.lifetime_s)
        return {"s3.access-key-id": key.id, "s3.secret-access-key": key.secret, "s3.session-token": key.token,
                "s3.session-token-expires-at-ms": str(int(key.expires * 1000))}
