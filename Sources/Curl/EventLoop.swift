import BeagleNetHTTP
import CBeagleNetCurl
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The one thread that calls libcurl. Others send it commands.
///
/// `@unchecked Sendable` is sound because everything but `inbox`, `isSleeping` and the poller's `wake` is reached
/// only on the loop's thread, which begins after `init` and keeps the loop alive to its end.
final class EventLoop: @unchecked Sendable {
    enum Command {
        case start(Transfer), cancel(Transfer), resume(Transfer), finish, shutDown
    }

    private struct Inbox {
        var commands: [Command] = []
        var isClosed = false
    }

    private enum Ending {
        case no, whenIdle, now
    }

    private let inbox = Lock(Inbox())
    private let isSleeping = Atomic(false)

    let ledger: Ledger?
    private let entry: Ledger.Entry
    private let multi: UnsafeMutableRawPointer
    private let poller: any Poller
    /// The time of this turn, in nanoseconds of the monotonic clock.
    private(set) var now: UInt64 = EventLoop.clock()
    private var sockets = OpenSockets()
    var connections = Connections()
    /// Numbers of sockets that had found their peer when they were closed, until they are given out again.
    private var closedAfterConnecting: Set<Int32> = []
    private var active: [Transfer] = []
    private var progressing: [Transfer] = []
    private var written: [BodyPipe] = []
    private var waiting: [UnsafeContinuation<Void, Never>] = []
    private var ending = Ending.no
    /// Whether this turn had to shut a connection.
    private var hasShutSocket = false
    /// When libcurl wants to be called.
    private var timer: UInt64?
    /// When the first of the active transfers may have run out of time.
    private var sweep: UInt64?

    /// Starts the thread.
    init(_ configuration: CurlConfiguration, portable: Bool, ledger: Ledger?) throws(NetworkError) {
        self.ledger = ledger
        entry = Ledger.Entry(.loop, in: ledger)
        guard curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK, let multi = curl_multi_init() else {
            throw NetworkError(.other, during: .queue, "libcurl could not be initialised")
        }
        self.multi = multi
        do throws(NetworkError) {
            poller = try makePoller(multi, portable: portable)
        } catch {
            curl_multi_cleanup(multi)
            throw error
        }
        configureMulti(configuration)
        do throws(NetworkError) {
            try startThread()
        } catch {
            curl_multi_cleanup(multi)
            throw error
        }
    }

    static func clock() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }

    // MARK: any thread

    func post(_ command: Command) {
        let isTaken = inbox.withLock { inbox in
            if inbox.isClosed { return false }
            inbox.commands.append(command)
            return true
        }
        if isTaken {
            wake()
        } else if case .start(let transfer) = command {
            // Nobody else holds a transfer that the loop refused.
            Task { transfer.refuse(.shutDown) }
        }
    }

    private func wake() {
        if isSleeping.exchange(false, ordering: .sequentiallyConsistent) { poller.wake() }
    }

    // MARK: the thread

    private func startThread() throws(NetworkError) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setstacksize(&attributes, 4 << 20)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        // The thread inherits the mask: signals are for the app's own threads.
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }

        let box = Unmanaged.passRetained(self)
        #if canImport(Darwin)
            var thread: pthread_t?
        #else
            var thread = pthread_t()
        #endif
        let code = pthread_create(&thread, &attributes, threadMain, box.toOpaque())
        guard code == 0 else {
            box.release()
            throw NetworkError(
                .other,
                during: .queue,
                "no thread for the event loop: \(String(cString: strerror(code)))"
            )
        }
    }

    fileprivate func run() {
        beagle_name_thread("beaglenet-curl")
        var commands: [Command] = []
        while true {
            now = Self.clock()
            inbox.withLock { inbox in
                swap(&inbox.commands, &commands)
            }
            for command in commands { execute(command) }
            commands.removeAll(keepingCapacity: true)
            if ending == .now || (ending == .whenIdle && active.isEmpty) { break }

            serveTimer()
            reap()
            if let sweep, sweep <= now { endOverdue() }
            reportProgress()
            wakeReaders()
            wakeTasks()
            wait()
            reap()
            wakeTasks()
            hasShutSocket = false
        }
        close()
    }

    private func execute(_ command: Command) {
        switch command {
        case .start(let transfer): start(transfer)
        case .cancel(let transfer): end(transfer, .cancelled(during: transfer.hop?.phase ?? .queue))
        case .resume(let transfer): resume(transfer)
        case .finish: if ending == .no { ending = .whenIdle }
        case .shutDown: ending = .now
        }
    }

    private func serveTimer() {
        guard let timer, timer <= now else { return }
        self.timer = nil
        if poller.timeIsUp() { hasShutSocket = true }
    }

    private func wait() {
        poller.applyChanges()
        isSleeping.store(true, ordering: .sequentiallyConsistent)
        let hasCommands = inbox.withLock { !$0.commands.isEmpty }
        poller.wait(milliseconds: hasCommands ? 0 : waitingTime())
        isSleeping.store(false, ordering: .relaxed)
        now = Self.clock()
        if poller.act() { hasShutSocket = true }
    }

    private func waitingTime() -> Int32 {
        let next = min(timer ?? .max, sweep ?? .max)
        guard next != .max else { return -1 }
        let now = Self.clock()
        return next <= now ? 0 : Int32(min((next - now + 999_999) / 1_000_000, 3_600_000))
    }

    // MARK: transfers

    private func start(_ transfer: Transfer) {
        transfer.index = active.count
        active.append(transfer)
        guard !transfer.wasCancelled else { return end(transfer, .cancelled(during: .queue)) }
        do throws(NetworkError) {
            add(try transfer.prepare(), of: transfer)
        } catch {
            end(transfer, error)
        }
    }

    private func add(_ hop: Hop, of transfer: Transfer) {
        let code = curl_multi_add_handle(multi, hop.easy.pointer)
        guard code == CURLM_OK else {
            return end(
                transfer,
                NetworkError(
                    .other,
                    during: .queue,
                    "libcurl took no transfer: \(String(cString: curl_multi_strerror(code)))"
                )
            )
        }
        watchDeadline(of: transfer)
    }

    private func reap() {
        var code = CURLE_OK
        while let easy = beagle_multi_next_done(multi, &code) {
            var context: UnsafeMutableRawPointer?
            beagle_easy_get_pointer(easy, CURLINFO_PRIVATE, &context)
            conclude(Hop.from(context), code)
        }
    }

    private func conclude(_ hop: Hop, _ code: CURLcode) {
        let transfer = hop.transfer
        // libcurl may take the end of a connection that was shut for the end of a body.
        if hasShutSocket, code == CURLE_OK, let key = hop.connection, !connections.contains(key) {
            hop.failure = .flooded
        }
        remove(hop)
        if let next = transfer.conclude(hop, code) {
            add(next, of: transfer)
        } else {
            forget(transfer)
        }
    }

    /// Lets a paused transfer go on. What libcurl's callbacks find meanwhile it keeps to itself.
    private func resume(_ transfer: Transfer) {
        guard let hop = transfer.hop else { return }
        hop.resume()
        if let failure = hop.failure { end(transfer, failure) }
    }

    /// Ends a transfer before libcurl does. One that is not active has ended, or has yet to start.
    private func end(_ transfer: Transfer, _ error: NetworkError) {
        guard transfer.index != nil else { return }
        if let hop = transfer.hop { remove(hop) }
        transfer.fail(error)
        forget(transfer)
    }

    /// Takes a hop out of the multi; after that libcurl calls back for it no more.
    private func remove(_ hop: Hop) {
        curl_multi_remove_handle(multi, hop.easy.pointer)
        if let connection = hop.connection { connections.end(connection) }
        forgetLost(hop.openedSockets)
    }

    private func forget(_ transfer: Transfer) {
        guard let index = transfer.index else { return }
        transfer.index = nil
        let last = active.removeLast()
        guard last !== transfer else { return }
        last.index = index
        active[index] = last
    }

    // MARK: deadlines: looked at when the earliest known one passes, so that activity costs nothing

    func watchDeadline(of transfer: Transfer) {
        guard let deadline = transfer.deadline(at: now) else { return }
        sweep = min(sweep ?? .max, deadline)
    }

    private func endOverdue() {
        sweep = nil
        for transfer in active {
            guard let deadline = transfer.deadline(at: now) else { continue }
            if deadline <= now {
                end(transfer, transfer.timeout(at: now))
            } else {
                sweep = min(sweep ?? .max, deadline)
            }
        }
    }

    // MARK: progress

    func noteProgress(_ transfer: Transfer) {
        guard transfer.request.onProgress != nil, !transfer.isProgressDue else { return }
        transfer.isProgressDue = true
        progressing.append(transfer)
    }

    private func reportProgress() {
        guard !progressing.isEmpty else { return }
        let due = progressing
        progressing.removeAll(keepingCapacity: true)
        for transfer in due { transfer.reportProgress() }
    }

    // MARK: readers of streams, woken once a turn

    func noteWritten(_ pipe: BodyPipe) {
        if written.last !== pipe { written.append(pipe) }
    }

    private func wakeReaders() {
        for pipe in written { pipe.wake() }
        written.removeAll(keepingCapacity: true)
    }

    // MARK: tasks, woken together: one by one, each would find the pool of threads asleep again

    func resumeSoon(_ continuation: UnsafeContinuation<Void, Never>) {
        waiting.append(continuation)
    }

    private func wakeTasks() {
        for continuation in waiting { continuation.resume() }
        waiting.removeAll(keepingCapacity: true)
    }

    // MARK: libcurl's callbacks

    /// The loop behind a callback's context: the thread that libcurl is called on keeps it.
    static func from(_ context: UnsafeMutableRawPointer?) -> EventLoop {
        guard let context else { preconditionFailure("libcurl lost the context that we gave it") }
        return Unmanaged<EventLoop>.fromOpaque(context).takeUnretainedValue()
    }

    private func configureMulti(_ configuration: CurlConfiguration) {
        let me = Unmanaged.passUnretained(self).toOpaque()
        beagle_multi_set_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
        // libcurl's own rule is four times the transfers in flight.
        beagle_multi_set_long(multi, CURLMOPT_MAXCONNECTS, configuration.maxIdleConnections)
        beagle_multi_set_pointer(multi, CURLMOPT_TIMERDATA, me)
        beagle_multi_set_timer_callback(multi) { _, milliseconds, context in
            EventLoop.from(context).setTimer(milliseconds)
            return 0
        }
        guard poller.watchesSockets else { return }
        beagle_multi_set_pointer(multi, CURLMOPT_SOCKETDATA, me)
        beagle_multi_set_socket_callback(multi) { _, socket, what, context, _ in
            EventLoop.from(context).poller.watch(socket, what)
            return 0
        }
    }

    private func setTimer(_ milliseconds: Int) {
        timer = milliseconds < 0 ? nil : milliseconds == 0 ? 0 : now &+ UInt64(milliseconds) &* 1_000_000
    }

    func openedSocket(_ socket: Int32, mayHoldUp: Bool) {
        forget(socket)
        sockets.insert(socket)
        poller.opened(socket, mayHoldUp: mayHoldUp)
        closedAfterConnecting.remove(socket)
        ledger?.add(.socket)
    }

    /// Whether a socket that was opened has found its peer, be it closed since.
    func isConnected(_ socket: Int32) -> Bool {
        closedAfterConnecting.contains(socket) || beagle_socket_is_connected(socket) != 0
    }

    func closeSocket(_ socket: Int32) -> Int32 {
        if beagle_socket_is_connected(socket) != 0 { closedAfterConnecting.insert(socket) }
        forget(socket)
        #if canImport(Glibc)
            return Glibc.close(socket)
        #elseif canImport(Musl)
            return Musl.close(socket)
        #else
            return Darwin.close(socket)
        #endif
    }

    /// Forgets those of a hop's sockets that libcurl has closed without a word.
    func forgetLost(_ opened: [Int32]) {
        for socket in opened where sockets.isLost(socket) { forget(socket, isLost: true) }
    }

    private func forget(_ socket: Int32, isLost: Bool = false) {
        guard sockets.remove(socket) else { return }
        if isLost { poller.lost(socket) } else { poller.closing(socket) }
        connections.remove(socket)
        ledger?.add(.socket, -1)
    }

    // MARK: the end

    /// Fails what is left and frees everything, the handles before the multi.
    private func close() {
        let rest = inbox.withLock { inbox in
            inbox.isClosed = true
            defer { inbox.commands = [] }
            return inbox.commands
        }
        for case .start(let transfer) in rest {
            transfer.index = active.count
            active.append(transfer)
        }
        for transfer in active.reversed() {
            end(transfer, transfer.wasCancelled ? .cancelled(during: transfer.hop?.phase ?? .queue) : .shutDown)
        }
        wakeTasks()
        poller.close()
        curl_multi_cleanup(multi)
    }
}

/// What the thread runs: takes the loop over from `startThread`.
private func threadMain(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let context { Unmanaged<EventLoop>.fromOpaque(context).takeRetainedValue().run() }
    return nil
}

extension NetworkError {
    fileprivate static func cancelled(during phase: Phase) -> NetworkError {
        NetworkError(.cancelled, during: phase, "the request was cancelled")
    }

    fileprivate static var flooded: NetworkError {
        NetworkError(
            .protocol,
            during: .body,
            "the server kept sending frames without content, so the connection was shut"
        )
    }

    fileprivate static var shutDown: NetworkError {
        NetworkError(.shutdown, during: .queue, "the transport was shut down", advice: "make a new one")
    }
}
