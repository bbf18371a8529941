// The floor for a subscription over a WebSocket: one thread reads one connection of libcurl in C. It splits frames, and finds
// `type`, `id` and the bounds of the payload of each message in one pass. It doesn't validate JSON or UTF-8, copies nothing
// and creates no values.
//
// Takes the command line of bench-subscriptions, `bench-c-flood c PORT COUNT`, and prints what that prints.
#include <curl/curl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { piece_size = 64 << 10 };

struct slice {
    const char *start;
    size_t count;
};

struct message {
    struct slice type, id, payload;
};

static CURL *easy;
static char *buffer;
static size_t capacity, first, last;
static long events;
static bool is_complete;

static void fail(const char *reason) {
    fprintf(stderr, "bench-c-flood: %s\n", reason);
    exit(1);
}

static double seconds(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static bool is(struct slice slice, const char *word) {
    return slice.count == strlen(word) && memcmp(slice.start, word, slice.count) == 0;
}

// MARK: the connection

static void await(short what) {
    curl_socket_t socket;
    if (curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &socket) != CURLE_OK) fail("no socket");
    struct pollfd descriptor = {.fd = socket, .events = what};
    poll(&descriptor, 1, -1);
}

static void send_all(const char *bytes, size_t count) {
    while (count) {
        size_t sent = 0;
        CURLcode code = curl_easy_send(easy, bytes, count, &sent);
        if (code == CURLE_AGAIN) {
            await(POLLOUT);
            continue;
        }
        if (code != CURLE_OK) fail(curl_easy_strerror(code));
        bytes += sent;
        count -= sent;
    }
}

// Reads what there is behind what is not taken yet.
static void receive(void) {
    if (capacity - last < piece_size) {
        if (first < last) memmove(buffer, buffer + first, last - first);
        last -= first;
        first = 0;
        if (capacity - last < piece_size) {
            capacity = capacity * 2 + 2 * piece_size;
            buffer = realloc(buffer, capacity);
            if (!buffer) fail("out of memory");
        }
    }
    size_t count = 0;
    CURLcode code;
    while ((code = curl_easy_recv(easy, buffer + last, piece_size, &count)) == CURLE_AGAIN) await(POLLIN);
    if (code != CURLE_OK) fail(curl_easy_strerror(code));
    if (!count) fail("the server ended the connection");
    last += count;
}

static void open_connection(const char *port) {
    char text[512];
    snprintf(text, sizeof text, "http://127.0.0.1:%s/graphql", port);
    easy = curl_easy_init();
    if (!easy) fail("no handle");
    curl_easy_setopt(easy, CURLOPT_URL, text);
    curl_easy_setopt(easy, CURLOPT_CONNECT_ONLY, 1L);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    CURLcode code = curl_easy_perform(easy);
    if (code != CURLE_OK) fail(curl_easy_strerror(code));

    int count = snprintf(
        text, sizeof text,
        "GET /graphql HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n"
        "Sec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n",
        port
    );
    send_all(text, (size_t)count);
    const char *end;
    do {
        receive();
    } while (!(end = memmem(buffer, last, "\r\n\r\n", 4)));
    if (memcmp(buffer, "HTTP/1.1 101 ", 13) != 0) fail("the server did not agree");
    first = (size_t)(end + 4 - buffer);
}

// MARK: frames

enum { opcode_text = 1, opcode_close = 8, opcode_ping = 9, opcode_pong = 10 };

static void send_frame(int opcode, struct slice payload) {
    static const uint8_t mask[4] = {0x5A, 0x13, 0xC7, 0x88};
    uint8_t frame[8 + 1024];
    size_t size = 2;
    if (payload.count > 1024) fail("a message of ours is too long");
    frame[0] = (uint8_t)(0x80 | opcode);
    if (payload.count < 126) {
        frame[1] = (uint8_t)(0x80 | payload.count);
    } else {
        frame[1] = 0x80 | 126;
        frame[2] = (uint8_t)(payload.count >> 8);
        frame[3] = (uint8_t)payload.count;
        size = 4;
    }
    memcpy(frame + size, mask, 4);
    size += 4;
    for (size_t index = 0; index < payload.count; index++) {
        frame[size++] = (uint8_t)payload.start[index] ^ mask[index & 3];
    }
    send_all((const char *)frame, size);
}

static void send_text(const char *text) {
    send_frame(opcode_text, (struct slice){text, strlen(text)});
}

// Takes the next frame out of the buffer; false if it is incomplete.
static bool next_frame(uint8_t *head, struct slice *payload) {
    const uint8_t *bytes = (const uint8_t *)buffer + first;
    size_t there = last - first, start = 2;
    if (there < start) return false;
    uint64_t size = bytes[1] & 0x7F;
    if (bytes[1] & 0x80) fail("a frame of the server is masked");
    if (size > 125) {
        size_t digits = size == 126 ? 2 : 8;
        start += digits;
        if (there < start) return false;
        size = 0;
        for (size_t index = 2; index < start; index++) size = size << 8 | bytes[index];
    }
    if (there - start < size) return false;
    *head = bytes[0];
    *payload = (struct slice){buffer + first + start, (size_t)size};
    first += start + (size_t)size;
    return true;
}

// MARK: JSON

static const char *skip_space(const char *at, const char *end) {
    while (at < end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t')) at++;
    return at;
}

// From behind the quote that begins a text to the one that ends it.
static const char *skip_text(const char *at, const char *end) {
    while (at < end && *at != '"') at += *at == '\\' ? 2 : 1;
    if (at >= end) fail("a text does not end");
    return at;
}

static const char *skip_value(const char *at, const char *end) {
    int depth = 0;
    for (; at < end; at++) {
        switch (*at) {
        case '"':
            at = skip_text(at + 1, end);
            if (depth == 0) return at + 1;
            break;
        case '{':
        case '[':
            depth++;
            break;
        case '}':
        case ']':
            if (depth == 0) return at;
            if (--depth == 0) return at + 1;
            break;
        case ',':
            if (depth == 0) return at;
            break;
        }
    }
    return at;
}

static struct slice unquoted(struct slice value) {
    if (value.count < 2 || *value.start != '"') return (struct slice){0};
    return (struct slice){value.start + 1, value.count - 2};
}

static struct message read_message(struct slice text) {
    struct message message = {0};
    const char *end = text.start + text.count, *at = skip_space(text.start, end);
    if (at == end || *at != '{') fail("a message is no object");
    at = skip_space(at + 1, end);
    while (at < end && *at == '"') {
        struct slice name = {.start = at + 1};
        at = skip_text(at + 1, end);
        name.count = (size_t)(at - name.start);
        at = skip_space(at + 1, end);
        if (at == end || *at != ':') fail("a member has no value");
        at = skip_space(at + 1, end);
        struct slice value = {.start = at};
        at = skip_value(at, end);
        value.count = (size_t)(at - value.start);
        if (is(name, "payload")) {
            message.payload = value;
        } else if (is(name, "id")) {
            message.id = unquoted(value);
        } else if (is(name, "type")) {
            message.type = unquoted(value);
        }
        at = skip_space(at, end);
        if (at < end && *at == ',') at = skip_space(at + 1, end);
    }
    if (at == end || *at != '}') fail("a message does not end");
    return message;
}

// MARK: the protocol

static void take_message(struct slice text) {
    struct message message = read_message(text);
    if (is(message.type, "next")) {
        if (!is(message.id, "1")) fail("a result of another operation");
        if (!message.payload.count || *message.payload.start != '{') fail("a payload is no object");
        events++;
    } else if (is(message.type, "complete")) {
        is_complete = is(message.id, "1");
    } else if (is(message.type, "connection_ack")) {
        send_text(
            "{\"id\":\"1\",\"type\":\"subscribe\",\"payload\":"
            "{\"query\":\"subscription Ticks { tick { number price symbol } }\"}}"
        );
    } else if (is(message.type, "ping")) {
        send_text("{\"type\":\"pong\"}");
    } else if (!is(message.type, "pong")) {
        fail("a message of another type");
    }
}

static void take_frame(uint8_t head, struct slice payload) {
    switch (head) {
    case 0x80 | opcode_text:
        take_message(payload);
        break;
    case 0x80 | opcode_ping:
        send_frame(opcode_pong, payload);
        break;
    case 0x80 | opcode_pong:
        break;
    case 0x80 | opcode_close:
        fail("the server closed the WebSocket");
        break;
    default:
        fail("a frame that this server never sends, as of a message in pieces");
    }
}

static void run(const char *port) {
    curl_global_init(CURL_GLOBAL_DEFAULT);
    open_connection(port);
    send_text("{\"type\":\"connection_init\"}");
    uint8_t head;
    struct slice payload;
    while (!is_complete) {
        if (next_frame(&head, &payload)) {
            take_frame(head, payload);
        } else {
            receive();
        }
    }
    send_frame(opcode_close, (struct slice){"\x03\xE8", 2});
    curl_easy_cleanup(easy);
}

int main(int count, char **words) {
    if (count != 4 || strcmp(words[1], "c") != 0) {
        fputs("usage: bench-c-flood c PORT COUNT\n", stderr);
        return 64;
    }
    double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    run(words[2]);
    wall = seconds(CLOCK_MONOTONIC) - wall;
    cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    printf("events %ld wall %f cpu %f\n", events, wall, cpu);
    return events != atol(words[3]);
}
