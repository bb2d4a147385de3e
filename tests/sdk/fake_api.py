"""A small Messages API on loopback: says what a script says, and writes down what it is sent.

Usage: fake_api.py SCRIPT RECORD. The script is a JSON list of turns, each a list of inputs of the
memory tool that one reply holds as parallel calls; then comes a reply of text alone. It prints its
port as its first line, and ends at the end of its standard input.

A conversation is either sent whole each time, or held here as a thread: then a request continues
from the reply it names, with what is new and nothing else.
"""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MEMORY_BETA = "context-management-2025-06-27"
THREADS_BETA = "message-threads-2026-08-12"
TOOL = {"type": "memory_20250818", "name": "memory"}
LAST_WORDS = "That is all I wanted to remember. \u2713"


class Refused(Exception):
    """A request that the real API would not take."""


def need(condition, why):
    if not condition:
        raise Refused(why)


def check(headers, body):
    """Refuses what the real API refuses, so that no example passes with what it would not take."""
    keys = [headers.get("x-api-key"), headers.get("authorization", "").removeprefix("Bearer ")]
    need("test-key" in keys, "authentication_error: an API key is required")
    need(headers.get("anthropic-version") == "2026-10-21", "anthropic-version header is required")
    betas = headers.get("anthropic-beta", "").split(",")
    need(MEMORY_BETA in betas, "the beta header of the memory tool is missing")
    need(THREADS_BETA in betas or "thread" not in body, "thread: extra inputs are not permitted")
    need(body.get("model") and body.get("max_tokens"), "model and max_tokens are required")


def conversation(threads, body):
    """All messages so far: those the request holds, after those of the thread that it continues."""
    thread = body.get("thread") or {"type": "none"}
    if thread["type"] == "continue":
        need(not {"tools", "system"} & set(body), "tools: a thread keeps those it was created with")
        before = threads.pop(thread["previous_message_id"], None)
        need(before is not None, "thread_not_found")
    else:
        need(body.get("tools") == [TOOL], f"tools: unexpected {body.get('tools')}")
        before = []
    messages = before + body["messages"]
    for at, message in enumerate(messages):
        need(message["role"] == ("assistant" if at % 2 else "user"), "roles must alternate")
        if message["role"] == "assistant":
            check_results(message["content"], messages[at + 1])
    need(len(messages) % 2 == 1, "the last message must be the user's")
    return messages


def check_results(asked, answer):
    calls = [block["id"] for block in asked if block["type"] == "tool_use"]
    results = answer["content"] if isinstance(answer["content"], list) else []
    need([block.get("tool_use_id") for block in results] == calls, "tool_use without tool_result")
    for block in results:
        extra = set(block) - {"type", "tool_use_id", "content", "is_error", "cache_control"}
        need(not extra, f"tool_result: extra inputs are not permitted: {sorted(extra)}")
        need(block["type"] == "tool_result" and isinstance(block["content"], str), "tool_result")
        block["content"].encode()  # half a surrogate pair is no text


def reply(script, turn, model):
    """The message of a turn: a text and the calls of the script, or last words."""
    if turn < len(script):
        content = [{"type": "text", "text": f"Turn {turn + 1}."}]
        content += [
            {
                "type": "tool_use",
                "id": f"toolu_{turn:02}{at:02}",
                "name": "memory",
                "input": call,
                "caller": {"type": "direct"},
            }
            for at, call in enumerate(script[turn])
        ]
    else:
        content = [{"type": "text", "text": LAST_WORDS}]
    return {
        "id": f"msg_{turn:04}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": "tool_use" if turn < len(script) else "end_turn",
        "stop_sequence": None,
        "container": None,
        "context_management": None,
        "usage": {
            "input_tokens": 2095,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": 88,
            "service_tier": "standard",
        },
    }


def events(message):
    """The same message as the stream has it: inputs come as pieces of JSON."""
    start = {**message, "content": [], "stop_reason": None}
    yield {"type": "message_start", "message": start}
    yield {"type": "ping"}
    for index, block in enumerate(message["content"]):
        if block["type"] == "text":
            empty, kind, whole = {**block, "text": ""}, "text", block["text"]
        else:
            empty, kind, whole = {**block, "input": {}}, "partial_json", json.dumps(block["input"])
        delta = "text_delta" if kind == "text" else "input_json_delta"
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        for piece in [whole[at : at + 4000] for at in range(0, len(whole), 4000)]:
            yield {
                "type": "content_block_delta",
                "index": index,
                "delta": {"type": delta, kind: piece},
            }
        yield {"type": "content_block_stop", "index": index}
    end = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": end, "usage": {"output_tokens": 88}}
    yield {"type": "message_stop"}


class Api(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        try:
            need(self.path.split("?")[0] == "/v1/messages", "not found")
            check(self.headers, body)
            messages = conversation(self.server.threads, body)
        except (Refused, UnicodeEncodeError, KeyError) as why:
            error = {"type": "invalid_request_error", "message": str(why)}
            print(f"fake API: refused: {why}", file=sys.stderr)
            self.answer(400, "application/json", json.dumps({"type": "error", "error": error}))
            return
        turn = len(messages) // 2
        self.server.write_down(turn, body)
        message = reply(self.server.script, turn, body["model"])
        if "thread" in body:
            said = {"role": "assistant", "content": message["content"]}
            self.server.threads[message["id"]] = [*messages, said]
        if body.get("stream"):
            lines = (f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events(message))
            self.answer(200, "text/event-stream", "".join(lines))
        else:
            self.answer(200, "application/json", json.dumps(message))

    def answer(self, status, kind, text):
        data = text.encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.send_header("request-id", "req_test")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, script, record):
        super().__init__(("127.0.0.1", 0), Api)
        self.script, self.record, self.lock = script, record, threading.Lock()
        self.threads = {}

    def write_down(self, turn, body):
        """One line for each request: its turn, and the results its last message brings."""
        last = body["messages"][-1]["content"]
        stream, thread = bool(body.get("stream")), body.get("thread", {}).get("type")
        line = {"stream": stream, "thread": thread, "results": last if turn else []}
        with self.lock:
            self.record.write(json.dumps(line) + "\n")
            self.record.flush()


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        script = json.load(file)
    with open(sys.argv[2], "w", encoding="utf-8") as record:
        server = Server(script, record)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        print(server.server_address[1], flush=True)
        sys.stdin.read()


main()
