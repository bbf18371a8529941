// The floor: libcurl's multi interface driven by epoll on one thread, in C, with a new easy handle for every request
// and the options that CurlTransport sets. Any cost above this floor is the transport's own.
// It accepts the same command line and prints the same report as the other clients (Sources/Load).
#include <curl/curl.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

struct bytes {
    char *start;
    size_t count, capacity;
};

// A place in the closed loop: one request after another.
struct slot {
    CURL *easy;
    struct curl_slist *fields;
    struct bytes head, body;
    char error[CURL_ERROR_SIZE];
    uint64_t started;
    const char *url;
};

// The events of a socket that libcurl wants, and those registered with epoll. As in CurlTransport, a socket that libcurl
// doesn't want stays registered until it has an event, which saves an epoll_ctl for each request.
struct watch {
    uint8_t wanted, registered;
    bool is_ours, is_changed;
};

static struct {
    const char *shape, *url, *parked_url, *authorities;
    long requests, tasks, parked;
    bool http2, own_thread;
} arguments = {.shape = "small", .requests = 1000, .tasks = 1};

static CURLM *multi;
static int epoll;
static struct watch *watches;
static int watch_count;
static int *changed;
static int changed_count, changed_capacity;
static uint64_t timer = UINT64_MAX;

static long begun, done, goal, failures;
static uint64_t body_bytes;
static uint32_t *latencies;

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void *must(void *memory) {
    if (memory) return memory;
    fputs("out of memory\n", stderr);
    exit(70);
}

static bool is_shape(const char *name) {
    return strcmp(arguments.shape, name) == 0;
}

// MARK: sockets

static struct watch *watch_of(int fd) {
    if (fd >= watch_count) {
        int count = fd * 2 + 64;
        watches = must(realloc(watches, sizeof *watches * (size_t)count));
        memset(watches + watch_count, 0, sizeof *watches * (size_t)(count - watch_count));
        watch_count = count;
    }
    return watches + fd;
}

static void apply(int fd) {
    struct watch *watch = watch_of(fd);
    if (watch->wanted == watch->registered) return;
    struct epoll_event event = {.data.fd = fd};
    if (watch->wanted & CURL_POLL_IN) event.events |= EPOLLIN;
    if (watch->wanted & CURL_POLL_OUT) event.events |= EPOLLOUT;
    if (!watch->wanted) {
        epoll_ctl(epoll, EPOLL_CTL_DEL, fd, &event);
    } else if (epoll_ctl(epoll, watch->registered ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event) != 0) {
        epoll_ctl(epoll, errno == EEXIST ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event);
    }
    watch->registered = watch->wanted;
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *context, void *assigned) {
    (void)easy, (void)context, (void)assigned;
    struct watch *watch = watch_of(fd);
    watch->wanted = what == CURL_POLL_REMOVE ? 0 : (uint8_t)what;
    if (!watch->is_ours) {
        apply(fd);
    } else if (watch->wanted && !watch->is_changed) {
        watch->is_changed = true;
        if (changed_count == changed_capacity) {
            changed_capacity = changed_capacity * 2 + 64;
            changed = must(realloc(changed, sizeof *changed * (size_t)changed_capacity));
        }
        changed[changed_count++] = fd;
    }
    return 0;
}

static int on_timer(CURLM *of, long milliseconds, void *context) {
    (void)of, (void)context;
    timer = milliseconds < 0 ? UINT64_MAX : milliseconds == 0 ? 0 : now() + (uint64_t)milliseconds * 1000000u;
    return 0;
}

static curl_socket_t on_open(void *context, curlsocktype purpose, struct curl_sockaddr *address) {
    (void)context, (void)purpose;
    int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (fd < 0) return CURL_SOCKET_BAD;
    bool is_changed = watch_of(fd)->is_changed;
    *watch_of(fd) = (struct watch){.is_ours = true, .is_changed = is_changed};
    return fd;
}

static int on_close(void *context, curl_socket_t fd) {
    (void)context;
    bool is_changed = watch_of(fd)->is_changed;
    *watch_of(fd) = (struct watch){.is_changed = is_changed};
    return close(fd);
}

// MARK: a request

static size_t append(struct bytes *bytes, const char *start, size_t count) {
    if (bytes->count + count > bytes->capacity) {
        bytes->capacity = (bytes->count + count) * 2;
        bytes->start = must(realloc(bytes->start, bytes->capacity));
    }
    memcpy(bytes->start + bytes->count, start, count);
    bytes->count += count;
    return count;
}

static size_t on_head(char *start, size_t size, size_t count, void *context) {
    return append(&((struct slot *)context)->head, start, size * count);
}

static size_t on_body(char *start, size_t size, size_t count, void *context) {
    body_bytes += size * count;
    return is_shape("big") ? size * count : append(&((struct slot *)context)->body, start, size * count);
}

static int on_request(void *context, char *remote, char *local, int remote_port, int local_port) {
    (void)context, (void)remote, (void)local, (void)remote_port, (void)local_port;
    return CURL_PREREQFUNC_OK;
}

static void configure(struct slot *slot) {
    CURL *easy = slot->easy;
    curl_easy_setopt(easy, CURLOPT_PRIVATE, slot);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
    curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, slot->error);
    curl_easy_setopt(easy, CURLOPT_URL, slot->url);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, 30000L);
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, arguments.http2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1);
    if (arguments.http2) curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);
    if (arguments.authorities) {
        curl_easy_setopt(easy, CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2);
        curl_easy_setopt(easy, CURLOPT_CAINFO, arguments.authorities);
        curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    }
    // The fields that our client sends, the same for the transport and C.
    slot->fields = curl_slist_append(NULL, "accept: application/json");
    slot->fields = curl_slist_append(slot->fields, "beagle-platform: IOS");
    slot->fields = curl_slist_append(slot->fields, "User-Agent: BeagleNet/0.1.0");
    slot->fields = curl_slist_append(slot->fields, "accept-encoding: gzip, deflate, br, zstd");
    slot->fields = curl_slist_append(slot->fields, "Expect:");
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, must(slot->fields));
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, slot);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_head);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, slot);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, slot);
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, on_request);
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_open);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, on_close);
}

static void begin(struct slot *slot) {
    slot->started = now();
    slot->url = arguments.url;
    slot->easy = must(curl_easy_init());
    configure(slot);
    curl_multi_add_handle(multi, slot->easy);
    begun += 1;
}

// Frees the head and body, as a caller would.
static void end(struct slot *slot, CURLcode code) {
    long status = 0;
    curl_easy_getinfo(slot->easy, CURLINFO_RESPONSE_CODE, &status);
    if (code != CURLE_OK || status != 200) {
        if (failures++ == 0) fprintf(stderr, "%s, status %ld\n", curl_easy_strerror(code), status);
    }
    curl_multi_remove_handle(multi, slot->easy);
    curl_easy_cleanup(slot->easy);
    curl_slist_free_all(slot->fields);
    free(slot->head.start);
    free(slot->body.start);
    slot->head = slot->body = (struct bytes){0};
    latencies[done++] = (uint32_t)((now() - slot->started) / 1000);
}

// MARK: the loop

static void reap(void) {
    int left;
    for (CURLMsg *message; (message = curl_multi_info_read(multi, &left));) {
        if (message->msg != CURLMSG_DONE) continue;
        struct slot *slot;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &slot);
        end(slot, message->data.result);
        if (begun < goal) begin(slot);
    }
}

static int waiting_time(void) {
    if (timer == UINT64_MAX) return 1000;
    uint64_t time = now();
    return timer <= time ? 0 : (int)((timer - time + 999999) / 1000000);
}

static void turn(void) {
    int running;
    if (timer <= now()) {
        timer = UINT64_MAX;
        curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running);
        reap();
        if (done >= goal) return;
    }
    for (int index = 0; index < changed_count; index++) {
        watch_of(changed[index])->is_changed = false;
        apply(changed[index]);
    }
    changed_count = 0;

    struct epoll_event events[256];
    int count = epoll_wait(epoll, events, 256, waiting_time());
    for (int index = 0; index < count; index++) {
        int fd = events[index].data.fd, what = 0;
        if (watch_of(fd)->is_ours && !watch_of(fd)->wanted) {
            apply(fd);
            continue;
        }
        if (events[index].events & EPOLLIN) what |= CURL_CSELECT_IN;
        if (events[index].events & EPOLLOUT) what |= CURL_CSELECT_OUT;
        if (events[index].events & (EPOLLERR | EPOLLHUP)) what |= CURL_CSELECT_ERR;
        curl_multi_socket_action(multi, fd, what, &running);
    }
    reap();
}

// Calls `look` at `moment`, for the shape that measures the memory in use while responses are pending.
static void run(struct slot *slots, long count, uint64_t moment, void (*look)(void)) {
    begun = done = failures = 0;
    body_bytes = 0;
    goal = count;
    latencies = must(realloc(latencies, sizeof *latencies * (size_t)count));
    for (long index = 0; index < arguments.tasks && index < count; index++) begin(slots + index);
    while (done < goal) {
        turn();
        if (look && now() >= moment) {
            look();
            look = NULL;
        }
    }
}

static bool has_head(const struct slot *slot) {
    const struct bytes *head = &slot->head;
    return head->count >= 4 && memcmp(head->start + head->count - 4, "\r\n\r\n", 4) == 0;
}

// Begins streams that are silent behind their head, and waits for their heads.
static void park(long count) {
    struct slot *slots = must(calloc((size_t)count + 1, sizeof *slots));
    latencies = must(malloc(sizeof *latencies * (size_t)(count + 1)));
    goal = 1;
    for (long index = 0; index < count; index++) {
        slots[index].url = arguments.parked_url;
        slots[index].easy = must(curl_easy_init());
        configure(slots + index);
        curl_multi_add_handle(multi, slots[index].easy);
        while (!failures && !has_head(slots + index)) turn();
    }
}

// MARK: measuring

static long resident_memory(void) {
    long all, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file) return 0;
    if (fscanf(file, "%ld %ld", &all, &resident) != 2) resident = 0;
    fclose(file);
    return resident * sysconf(_SC_PAGESIZE) / 1024;
}

static double seconds(struct timeval time) {
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static int by_size(const void *left, const void *right) {
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

static void measure_speed(struct slot *slots) {
    if (is_shape("parked")) park(arguments.parked);
    if (!is_shape("big")) run(slots, arguments.tasks > 500 ? arguments.tasks : 500, 0, NULL);
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    uint64_t start = now();
    run(slots, arguments.requests, 0, NULL);
    double time = (double)(now() - start) / 1e9;
    getrusage(RUSAGE_SELF, &after);
    double count = (double)done;
    double user = (seconds(after.ru_utime) - seconds(before.ru_utime)) * 1e6 / count;
    double system = (seconds(after.ru_stime) - seconds(before.ru_stime)) * 1e6 / count;
    qsort(latencies, (size_t)done, sizeof *latencies, by_size);
    printf(
        "{\"client\":\"c\",\"shape\":\"%s\",\"failures\":%ld,\"requestsPerSecond\":%.3f,\"cpuMicros\":%.3f,"
        "\"userMicros\":%.3f,\"systemMicros\":%.3f,\"medianMicros\":%u,\"p99Micros\":%u,"
        "\"gigabytesPerSecond\":%.3f,\"peakMemoryKiB\":%ld}\n",
        arguments.shape, failures, count / time, user + system, user, system, latencies[done / 2],
        latencies[done * 99 / 100], (double)body_bytes / time / 1e9, after.ru_maxrss
    );
}

static long memory_in_flight;

static void look_at_memory(void) {
    memory_in_flight = resident_memory();
}

static void measure_memory(struct slot *slots) {
    struct rusage before, after;
    long base = resident_memory();
    getrusage(RUSAGE_SELF, &before);
    run(slots, arguments.tasks, now() + 4000000000u, look_at_memory);
    getrusage(RUSAGE_SELF, &after);
    double time = seconds(after.ru_utime) + seconds(after.ru_stime);
    time -= seconds(before.ru_utime) + seconds(before.ru_stime);
    printf(
        "{\"client\":\"c\",\"shape\":\"waiting\",\"failures\":%ld,\"memoryPerRequestKiB\":%.3f,"
        "\"cpuSeconds\":%.3f}\n",
        failures, (double)(memory_in_flight - base) / (double)arguments.tasks, time
    );
}

static void measure_start(struct slot *slots) {
    run(slots, 1, 0, NULL);
    uint64_t finish = now();
    const char *started = getenv("BENCH_STARTED");
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf(
        "{\"client\":\"c\",\"shape\":\"cold\",\"failures\":%ld,\"coldMillis\":%.3f,\"peakMemoryKiB\":%ld}\n", failures,
        (double)(finish - (started ? strtoull(started, NULL, 10) : finish)) / 1e6, usage.ru_maxrss
    );
}

static void read_arguments(int count, char **words) {
    for (int index = 1; index < count; index++) {
        const char *option = words[index];
        const char *value = index + 1 < count ? words[index + 1] : "";
        if (strcmp(option, "--http2") == 0) {
            arguments.http2 = true;
            continue;
        }
        if (strcmp(option, "--shape") == 0) arguments.shape = value;
        if (strcmp(option, "--variant") == 0) arguments.own_thread = strcmp(value, "thread") == 0;
        if (strcmp(option, "--url") == 0) arguments.url = value;
        if (strcmp(option, "--parked") == 0) arguments.parked = atol(value);
        if (strcmp(option, "--parked-url") == 0) arguments.parked_url = value;
        if (strcmp(option, "--authorities") == 0) arguments.authorities = value;
        if (strcmp(option, "--requests") == 0) arguments.requests = atol(value);
        if (strcmp(option, "--tasks") == 0) arguments.tasks = atol(value);
        index += 1;
    }
    if (!arguments.url || arguments.requests < 1 || arguments.tasks < 1) {
        fputs("--url, and at least one request and task\n", stderr);
        exit(64);
    }
}

static void *work(void *unused) {
    (void)unused;
    curl_global_init(CURL_GLOBAL_DEFAULT);
    multi = must(curl_multi_init());
    epoll = epoll_create1(EPOLL_CLOEXEC);
    curl_multi_setopt(multi, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, 1024L);
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timer);
    struct slot *slots = must(calloc((size_t)arguments.tasks, sizeof *slots));

    if (is_shape("waiting")) {
        measure_memory(slots);
    } else if (is_shape("cold")) {
        measure_start(slots);
    } else {
        measure_speed(slots);
    }
    return NULL;
}

int main(int count, char **words) {
    read_arguments(count, words);
    pthread_t thread;
    if (!arguments.own_thread) {
        work(NULL);
    } else if (pthread_create(&thread, NULL, work, NULL) == 0) {
        pthread_join(thread, NULL);
    } else {
        fputs("no thread\n", stderr);
        return 70;
    }
    return failures != 0;
}
