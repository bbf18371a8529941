#!/usr/bin/env python3
"""Writes chromium.har: a visit of a small site, as the network panel of Chromium's tools saves it.

    .build/python/bin/python3 Tests/ReplayTests/Archives/make-chromium.py

Starts the site and Chromium, listens at its debugging port, and makes of the events of the domain Network what
front_end/models/har/Log.ts of the tools makes of them. Needs what `scripts/setup.sh --peers` installs.
"""
import asyncio, base64, datetime, gzip, http, http.server, json, pathlib, struct, subprocess, tempfile, threading
import urllib.request, zlib
from websockets.asyncio.client import connect
from websockets.asyncio.server import serve

PORT, SOCKET_PORT, CLOSED_PORT, DEBUG_PORT = 8941, 8942, 8943, 8944
SITE = f"http://127.0.0.1:{PORT}"


def png():
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 4, 4, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(bytes(52))) + chunk(b"IEND", b"")


PAGE = f"""<!doctype html><meta charset=utf-8><title>Page</title><link rel=icon href=data:,><img src=/a.png>
<script>
async function visit() {{
    await fetch('/data.json?q=%C3%A9&q=2')
    await (await fetch('/gone')).text()
    await (await fetch('/form', {{method: 'POST', body: new URLSearchParams([['a', '1 2'], ['b', 'é']])}})).text()
    await (await fetch('/bytes', {{method: 'POST', body: new Uint8Array([0, 255, 13, 10])}})).arrayBuffer()
    await (await fetch('/text')).text()
    await (await fetch('/text', {{cache: 'no-cache'}})).text()
    await fetch('http://127.0.0.1:{CLOSED_PORT}/refused').catch(() => 0)
    await new Promise(done => {{
        const events = new EventSource('/events')
        events.onmessage = () => {{ events.close(); done() }}
    }})
    await new Promise(done => {{
        const socket = new WebSocket('ws://127.0.0.1:{SOCKET_PORT}/echo')
        let answers = 0
        socket.binaryType = 'arraybuffer'
        socket.onopen = () => {{ socket.send('hé'); socket.send(new Uint8Array([0, 255])) }}
        socket.onmessage = () => {{ answers += 1; if (answers == 2) socket.close() }}
        socket.onclose = done
    }})
}}
</script>
<p>héllo"""


class Site(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, kind=None, body=b"", *fields):
        self.send_response(status)
        for name, value in ([("Content-Type", kind)] if kind else []) + list(fields):
            self.send_header(name, value)
        if status != http.HTTPStatus.NOT_MODIFIED:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        path = self.path.split("?")[0]
        if path == "/start":
            self.answer(302, None, b"", ("Location", "/page"))
        elif path == "/page":
            self.answer(200, "text/html; charset=utf-8", PAGE.encode())
        elif path == "/data.json":
            cookies = [("Set-Cookie", "a=1; Path=/; HttpOnly"), ("Set-Cookie", "b=2")]
            text = json.dumps({"e": "é😀", "list": list(range(200))}).encode()
            self.answer(200, "application/json", gzip.compress(text), ("Content-Encoding", "gzip"), *cookies)
        elif path == "/a.png":
            self.answer(200, "image/png", png())
        elif path == "/text":
            if self.headers["If-None-Match"] == '"1"':
                return self.answer(304, None, b"", ("ETag", '"1"'))
            self.answer(200, "text/plain; charset=utf-8", "téxt \u2028 end".encode(), ("ETag", '"1"'))
        elif path == "/events":
            self.answer(200, "text/event-stream", "id: 1\ndata: née\n\n".encode())
        else:
            self.answer(404, "text/plain", b"no")

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.answer(200, "application/octet-stream", body)

    def log_message(self, *arguments):
        pass


class Tools:
    """What the network panel knows of requests, by the events of the debugging port."""

    def __init__(self, socket):
        self.socket, self.number, self.replies = socket, 0, {}
        self.requests, self.current, self.extra = [], {}, {}
        self.marks = {}
        self.loaded = asyncio.get_running_loop().create_future()

    async def listen(self):
        async for text in self.socket:
            message = json.loads(text)
            if "id" in message:
                self.replies.pop(message["id"]).set_result(message)
            elif message["method"].startswith("Network."):
                self.event(message["method"][8:], message["params"])
            elif message["method"] == "Page.domContentEventFired":
                self.marks["onContentLoad"] = message["params"]["timestamp"]
            elif message["method"] == "Page.loadEventFired":
                self.marks["onLoad"] = message["params"]["timestamp"]
                self.loaded.set_result(None)

    async def call(self, method, **parameters):
        self.number += 1
        reply = self.replies[self.number] = asyncio.get_running_loop().create_future()
        await self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        message = await reply
        return message.get("result")

    def event(self, name, it):
        number = it.get("requestId")
        request = self.current.get(number)
        if name == "requestWillBeSent":
            if "redirectResponse" in it:
                request["response"], request["end"] = it["redirectResponse"], it["timestamp"]
                request["received"] = it["timestamp"]
            request = dict(it, id=number, frames=[], extras={}, issued=it["timestamp"])
        elif name == "webSocketCreated":
            request = dict(it, id=number, frames=[], extras={}, type="WebSocket")
        elif name.endswith("ExtraInfo"):
            # Those of a redirect come in the order of its steps.
            steps = [each for each in self.requests if each["id"] == number and name not in each["extras"]]
            if steps:
                steps[0]["extras"][name] = it
            else:
                self.extra.setdefault(number, []).append((name, it))
            return
        elif request is None:
            return
        elif name == "webSocketWillSendHandshakeRequest":
            request.update(timestamp=it["timestamp"], wallTime=it["wallTime"], request=dict(it["request"], method="GET"))
            request["request"]["url"] = request["url"]
        elif name == "webSocketHandshakeResponseReceived":
            request.update(response=it["response"], received=it["timestamp"], end=it["timestamp"])
        elif name in ("webSocketFrameSent", "webSocketFrameReceived"):
            kind = "send" if name.endswith("Sent") else "receive"
            request["frames"].append((kind, it["timestamp"], it["response"]))
        elif name == "webSocketClosed":
            request["end"] = it["timestamp"]
        elif name == "responseReceived":
            request.update(response=it["response"], received=it["timestamp"], type=it["type"])
        elif name == "requestServedFromCache":
            request["cached"] = "memory"
        elif name == "loadingFinished":
            request.update(end=it["timestamp"], transferred=it["encodedDataLength"])
        elif name == "loadingFailed":
            request.update(end=it["timestamp"], error=it["errorText"])
        elif name == "dataReceived":
            request["size"] = request.get("size", 0) + it["dataLength"]
        if name in ("requestWillBeSent", "webSocketCreated"):
            self.current[number] = request
            self.requests.append(request)
            for early, fields in self.extra.pop(number, []):
                request["extras"][early] = fields

    async def read_bodies(self):
        for request in self.requests:
            if request.get("request", {}).get("hasPostData"):
                reply = await self.call("Network.getRequestPostData", requestId=request["id"])
                request["posted"] = reply["postData"] if reply else None
            if "response" in request and request["type"] != "WebSocket" and not 300 <= request["response"]["status"] < 400:
                request["body"] = await self.call("Network.getResponseBody", requestId=request["id"])


def pairs(fields):
    return [{"name": name, "value": value} for name, value in fields]


def listed(headers):
    """Fields that came several times are joined by line feeds in an event, and apart in the panel."""
    return [(name, part) for name, value in headers.items() for part in value.split("\n")]


def moment(seconds):
    text = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


class Entry:
    def __init__(self, request):
        self.request, self.response = request, request.get("response") or {}
        sent, received = (request["extras"].get(f"{way}ExtraInfo", {}) for way in ("requestWillBeSent", "responseReceived"))
        self.sent = listed(sent.get("headers") or request["request"]["headers"])
        self.received = listed(received.get("headers") or self.response.get("headers") or {})
        self.head = received.get("headersText") or ""
        self.status = received.get("statusCode") or self.response.get("status") or 0
        start = request["timestamp"]
        self.monotonic = (self.response.get("timing") or {}).get("requestTime", start)
        self.to_wall = request["wallTime"] - start

    def cookies(self, name):
        found = []
        for value in (value for field, value in (self.sent + self.received) if field.lower() == name):
            for pair in [value] if name == "set-cookie" else value.split(";"):
                (key, _, text), *rest = [part.strip().partition("=") for part in pair.split(";")]
                cookie = {"name": key, "value": text}
                for attribute, _, text in rest:
                    cookie[{"httponly": "httpOnly"}.get(attribute.lower(), attribute.lower())] = text or True
                found.append(cookie)
        return found

    def transferred(self):
        return int(self.request.get("transferred") or self.response.get("encodedDataLength") or 0)

    def timings(self):
        timings = {"blocked": -1, "dns": -1, "ssl": -1, "connect": -1, "send": 0, "wait": 0, "receive": 0}
        timing, request = self.response.get("timing"), self.request
        queued = max(0, (self.monotonic - request["timestamp"]) * 1000)
        timings["blocked"] = timings["_blocked_queueing"] = queued
        if timing is None and "received" not in request:
            timings["blocked"] = (request["end"] - request["timestamp"]) * 1000
            return timings
        highest = 0
        if timing is not None:
            starts = [timing[name] for name in ("dnsStart", "connectStart", "sendStart") if timing[name] >= 0]
            blocked = min(starts, default=0)
            timings["blocked"] += blocked
            if timing["dnsEnd"] >= 0:
                timings["dns"] = timing["dnsEnd"] - blocked
            if timing["sslEnd"] > 0:
                timings["ssl"] = timing["sslEnd"] - timing["sslStart"]
            if timing["connectEnd"] >= 0:
                timings["connect"] = timing["connectEnd"] - (timing["dnsEnd"] if timing["dnsEnd"] >= 0 else blocked)
            if timing["sendEnd"] >= 0:
                begin = max(timing["connectEnd"], timing["dnsEnd"], blocked)
                timings["send"] = max(0, timing["sendEnd"] - begin)
            highest = max(timing["sendEnd"], timing["connectEnd"], timing["sslEnd"], timing["dnsEnd"], blocked, 0)
        wait_end = (request["received"] - self.monotonic) * 1000
        timings["wait"] = wait_end - highest
        timings["receive"] = max(0, (request["end"] - self.monotonic) * 1000 - wait_end)
        return timings

    def post_data(self):
        text = self.request.get("posted")
        if text is None:
            return {}
        kind = next((value for name, value in self.sent if name.lower() == "content-type"), "")
        posted = {"mimeType": kind, "text": text}
        if kind.startswith("application/x-www-form-urlencoded"):
            posted["params"] = pairs(tuple(pair.partition("=")[::2]) for pair in text.split("&"))
        return {"postData": posted}

    def content(self):
        content = {"size": self.request.get("size", 0), "mimeType": self.response.get("mimeType") or "x-unknown"}
        body = self.request.get("body")
        if self.head and self.status != 304:
            content["compression"] = content["size"] - (self.transferred() - len(self.head))
        if body:
            content["text"] = body["body"]
            if body["base64Encoded"]:
                content["encoding"] = "base64"
        return content

    def har(self):
        request, response, timings = self.request, self.response, self.timings()
        phases = ("blocked", "dns", "connect", "send", "wait", "receive")
        entry = {}
        if response.get("connectionId"):
            entry["_connectionId"] = str(int(response["connectionId"]))
        entry["_initiator"] = request.get("initiator", {"type": "other"})
        entry["_priority"] = request["request"].get("initialPriority")
        entry["_resourceType"] = request["type"].lower()
        if request["frames"]:
            entry["_webSocketMessages"] = [
                {"type": kind, "time": at + self.to_wall, "opcode": frame["opcode"], "data": frame["payloadData"]}
                for kind, at, frame in request["frames"]
            ]
        entry["cache"] = {}
        if response.get("connectionId"):
            entry["connection"] = entry["_connectionId"]
        entry["pageref"] = "page_1"
        query = request["request"]["url"].partition("?")[2]
        entry["request"] = {
            "method": request["request"]["method"],
            "url": request["request"]["url"],
            "httpVersion": response.get("protocol", ""),
            "headers": pairs(self.sent),
            "queryString": pairs(tuple(pair.partition("=")[::2]) for pair in query.split("&") if pair),
            "cookies": self.cookies("cookie"),
            "headersSize": -1,
            "bodySize": len((request.get("posted") or "").encode()),
            **self.post_data(),
        }
        location = next((value for name, value in self.received if name.lower() == "location"), "")
        entry["response"] = {
            "status": self.status,
            "statusText": response.get("statusText", "") if self.status != 304 else "Not Modified",
            "httpVersion": response.get("protocol", ""),
            "headers": pairs(self.received),
            "cookies": self.cookies("set-cookie"),
            "content": self.content(),
            "redirectURL": location,
            "headersSize": len(self.head) or -1,
            "bodySize": 0 if self.status == 304 else self.transferred() - len(self.head) if self.head else -1,
            "_transferSize": self.transferred(),
            "_error": request.get("error"),
            "_fetchedViaServiceWorker": response.get("fromServiceWorker", False),
        }
        if response.get("remoteIPAddress"):
            entry["serverIPAddress"] = response["remoteIPAddress"]
        entry["startedDateTime"] = moment(request["timestamp"] + self.to_wall)
        entry["time"] = sum(max(0, timings[phase]) for phase in phases)
        entry["timings"] = timings
        return entry


def archive(tools, version):
    entries = [Entry(request) for request in tools.requests]
    begin = tools.requests[0]
    page = {
        "startedDateTime": moment(begin["wallTime"]),
        "id": "page_1",
        "title": f"{SITE}/page",
        "pageTimings": {name: (at - begin["timestamp"]) * 1000 for name, at in tools.marks.items()},
    }
    creator = {"name": "WebInspector", "version": version}
    return {"log": {"version": "1.2", "creator": creator, "pages": [page], "entries": [each.har() for each in entries]}}


async def echo(socket):
    async for message in socket:
        await socket.send(message)


async def visit(target):
    with http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Site) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        async with serve(echo, "127.0.0.1", SOCKET_PORT), connect(target, max_size=None) as socket:
            tools = Tools(socket)
            listening = asyncio.create_task(tools.listen())
            for domain in ("Network", "Page", "Runtime"):
                await tools.call(f"{domain}.enable")
            await tools.call("Page.navigate", url=f"{SITE}/start")
            await tools.loaded
            await tools.call("Runtime.evaluate", expression="visit()", awaitPromise=True)
            await tools.read_bodies()
            agent = (await tools.call("Browser.getVersion"))["userAgent"]
            listening.cancel()
            site.shutdown()
            return archive(tools, agent.partition("AppleWebKit/")[2].split()[0])


def debugged_page():
    """The address of the first page's debugger, once Chromium listens."""
    for _ in range(200):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{DEBUG_PORT}/json") as answer:
                pages = [each for each in json.load(answer) if each["type"] == "page"]
            if pages:
                return pages[0]["webSocketDebuggerUrl"]
        except OSError:
            pass
        threading.Event().wait(0.1)
    raise SystemExit("Chromium does not listen")


def main():
    with tempfile.TemporaryDirectory() as profile:
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
        flags += [f"--user-data-dir={profile}", f"--remote-debugging-port={DEBUG_PORT}", "about:blank"]
        browser = subprocess.Popen(["chromium", *flags], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            har = asyncio.run(visit(debugged_page()))
        finally:
            browser.terminate()
            browser.wait()
    path = pathlib.Path(__file__).parent / "chromium.har"
    path.write_text(json.dumps(har, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


main()
