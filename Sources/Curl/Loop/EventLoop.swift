import BeagleNetHTTP
import CBeagleNetCurl
import CBeagleNetMemory
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The one thread that calls libcurl. Other threads send it commands.
///
/// `@exclusivity(unchecked)` is safe because no code that accesses these properties calls anything that could re-enter
/// them. The collections among them are modified on their own, and callers get copies.
///
/// `@unchecked Sendable` is sound because other threads use only `inbox`, which synchronizes itself, the poller's
/// `wake`, and constants. The rest is accessed only on the loop's thread, which starts after `init` and keeps the loop
/// alive until it ends.
final class EventLoop: CallbackContext, @unchecked Sendable {
    enum Command {
        case start(Transfer), cancel(Transfer), resume(Transfer), raise(Transfer, Priority)
        indirect case connect(Transfer, to: Result<[IPAddress], NetworkError>, of: Origin)
        /// The network has changed: idle connections are closed, the others after their use.
        case networkDidChange
        /// Count the connections.
        case count(UnsafeContinuation<ConnectionCount, Never>)
        /// No more transfers will start: the loop ends after its last transfer.
        case finish
        case shutDown
        /// Run a job of a task that has this executor: see `CurlTransport.enqueue`.
        case run(UnownedJob, UnownedTaskExecutor)
    }

    private enum ShutdownState {
        case no, whenIdle, now
    }

    private let inbox = CommandInbox()

    let configuration: CurlTransport.Configuration
    /// The environment's proxies.
    let proxies = ProxyEnvironment.current
    /// The libcurl options of all requests.
    let sharedOptions: [HandleOptions.Setting]
    let resourceTracker: ResourceTracker?
    private let role: LoopRole
    var isForLongLived: Bool { role == .longLived }
    let bufferBudget = BufferBudget()
    private let streams: LongLivedRequestHistory
    private let entry: ResourceTracker.Entry
    private let multi: UnsafeMutableRawPointer
    let spareHandles = SpareHandles()
    let poller: any Poller
    /// The time of this turn, in nanoseconds of the monotonic clock.
    @exclusivity(unchecked) private(set) var now: UInt64 = EventLoop.clock()
    private var sockets = OpenSockets()
    @exclusivity(unchecked) var connections = Connections()
    @exclusivity(unchecked) var parsedOrigins = ParsedOriginCache()
    /// The options that were checked last; most requests have the same.
    var checkedExtras: TransferOptions.Extras?
    let memory: ClientStores?
    var tlsSession = TLSSession()
    var tunnelOwners = TunnelOwners()
    var identities = IdentityRegistry()
    /// Authorities that don't offer HTTP/2 over TLS; an incomplete set if there are very many.
    var http1OnlyAuthorities: Set<String> = []
    /// The limits on concurrency, with the waiting transfers.
    @exclusivity(unchecked) private var scheduler: TransferScheduler<Transfer>
    @exclusivity(unchecked) private var active: [Transfer] = []
    private var progressing: [Transfer] = []
    /// The earliest time of the next progress report.
    private var nextProgress: UInt64 = 0
    private var written: [BodyPipe] = []
    /// The transfers that have become WebSockets, by their connection's socket.
    var webSockets: [Int32: Transfer] = [:]
    /// The connection group of the next WebSocket.
    var nextGroup: ConnectionGroup?
    /// The tasks to resume at the end of the turn.
    let tasks = WaitingTasks()
    private var ending = ShutdownState.no
    private var hasLeftNetwork = false
    /// Whether a connection has become idle since the poller's last look.
    @exclusivity(unchecked) private var needsPoll = false
    /// The sockets that were shut down in this turn.
    private var shutSockets: [Int32] = []
    /// The time at which libcurl wants to be called.
    @exclusivity(unchecked) private var timer: UInt64?
    /// The earliest deadline of the active transfers.
    @exclusivity(unchecked) private var nextDeadline: UInt64?
    @exclusivity(unchecked) private var processed = ProcessedTime()
    /// The time of the next check for long-lived transfers.
    private var nextReview: UInt64 = 0

    /// Creates a loop and starts its thread.
    ///
    /// - Parameters:
    ///   - configuration: The validated configuration.
    ///   - role: The kind of transfers that run on this loop.
    ///   - streams: The record of requests whose transfers are long-lived.
    ///   - portable: Whether to wait with `curl_multi_poll`.
    ///   - resourceTracker: The tracker that counts the loop and its resources.
    init(
        _ configuration: CurlTransport.Configuration,
        _ role: LoopRole,
        _ streams: LongLivedRequestHistory,
        portable: Bool,
        resourceTracker: ResourceTracker?
    ) throws(NetworkError) {
        self.configuration = configuration
        sharedOptions = HandleOptions.shared(configuration, proxies)
        self.resourceTracker = resourceTracker
        self.role = role
        self.streams = streams
        entry = ResourceTracker.Entry(.loop, in: resourceTracker)
        memory = ClientStores(configuration)
        scheduler = TransferScheduler(role.limits(of: configuration))
        guard Self.isLibcurlReady, let multi = curl_multi_init() else {
            throw NetworkError(.other, during: .queue, "libcurl could not be initialised")
        }
        self.multi = multi
        do throws(NetworkError) {
            poller = try makePoller(multi, portable: portable)
        } catch {
            curl_multi_cleanup(multi)
            throw error
        }
        configureMulti()
        do throws(NetworkError) {
            try LoopThread.start(self)
        } catch {
            curl_multi_cleanup(multi)
            throw error
        }
    }

    /// The result of initializing libcurl, once per process: before libcurl 7.84 this is not thread-safe.
    ///
    /// libcurl then uses our allocator, unless other code has initialized it before; in that case it uses the C
    /// library's.
    static let isLibcurlReady =
        curl_global_init_mem(
            Int(CURL_GLOBAL_DEFAULT),
            beagle_malloc,
            beagle_free,
            beagle_realloc,
            beagle_strdup,
            beagle_calloc
        ) == CURLE_OK

    static func clock() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }

    // MARK: any thread

    func post(_ command: Command) {
        guard let mustWake = inbox.post(command) else { return reject(command) }
        if mustWake { poller.wake() }
    }

    private func reject(_ command: Command) {
        switch command {
        // No other code holds a transfer that the loop rejected.
        case .start(let transfer): Task { transfer.reject(.shutDown) }
        case .run(let job, _): globalConcurrentExecutor.enqueue(job)
        case .count(let continuation): continuation.resume(returning: ConnectionCount())
        case .cancel, .resume, .connect, .raise, .networkDidChange, .finish, .shutDown: break
        }
    }

    // MARK: the thread

    /// Runs the loop on its thread until it ends.
    func run() {
        beagle_name_thread("beaglenet-curl")
        LoopThread.setLoop(self)
        _ = beagle_keep_blocks()
        var commands: [Command] = []
        while true {
            now = Self.clock()
            // Twice, so that requests started by a task that runs here are sent without another look at the sockets.
            for _ in 0..<2 {
                inbox.take(&commands)
                for command in commands { execute(command) }
                commands.removeAll(keepingCapacity: true)
            }
            if ending == .now || (ending == .whenIdle && active.isEmpty) { break }

            serveTimer()
            reap()
            if let nextDeadline, nextDeadline <= processed.until { checkDeadlines() }
            if nextReview <= now { reviewTransfers() }
            while let next = scheduler.next() { takeTurn(next) }
            reportProgress()
            wakeReaders()
            tasks.resumeAll()
            wait()
            reap()
            tasks.resumeAll()
            if !shutSockets.isEmpty { shutSockets = [] }
        }
        close()
    }

    private func execute(_ command: Command) {
        switch command {
        case .start(let transfer): start(transfer)
        case .cancel(let transfer): end(transfer, .cancelled(during: transfer.phase))
        case .resume(let transfer): resume(transfer)
        case .connect(let transfer, let addresses, let origin): connect(transfer, to: addresses, of: origin)
        case .raise(let transfer, let priority): raise(transfer, to: priority)
        case .networkDidChange:
            hasLeftNetwork = true
            connections.shutIdle()
        case .count(let continuation): continuation.resume(returning: connections.count)
        case .finish: if ending == .no { ending = .whenIdle }
        case .shutDown: ending = .now
        case .run(let job, let executor):
            job.runSynchronously(on: executor)
            notePossibleDelay()
        }
    }

    private func serveTimer() {
        guard let timer, timer <= now else { return }
        self.timer = nil
        if needsPoll { look() }
        shutSockets += poller.timerExpired()
    }

    /// Looks at all sockets once before requests are sent, instead of once per connection used. Its events are
    /// processed at the end of the turn.
    private func look() {
        poller.applyChanges()
        poller.wait(milliseconds: 0)
        needsPoll = false
    }

    private func wait() {
        let began = now
        if !poller.hasFound { sleep() }
        now = Self.clock()
        if now &- began >= Self.idleTime {
            spareHandles.free()
            beagle_thin_blocks()
        }
        shutSockets += poller.dispatchEvents()
        if !webSockets.isEmpty { serveReady() }
        processed.note(poller, since: began, transfers: active.count)
    }

    private func sleep() {
        poller.applyChanges()
        let hasCommands = inbox.willSleep()
        poller.wait(milliseconds: hasCommands ? 0 : waitingTime())
        inbox.didWake()
        needsPoll = false
    }

    /// The idle time after which memory freed by libcurl is returned to the system, in nanoseconds.
    private static let idleTime: UInt64 = 1_000_000_000

    private func waitingTime() -> Int32 {
        let next = min(timer ?? .max, nextDeadline ?? .max, progressing.isEmpty ? .max : nextProgress)
        let keepsMuch = !spareHandles.isEmpty || beagle_kept_bytes() > beagle_idle_bytes
        let longest: UInt64 = keepsMuch ? Self.idleTime : 3_600_000_000_000
        if next == .max { return keepsMuch ? Int32(longest / 1_000_000) : -1 }
        let now = Self.clock()
        return next <= now ? 0 : Int32((min(next - now, longest) + 999_999) / 1_000_000)
    }

    // MARK: transfers

    private func start(_ transfer: Transfer) {
        transfer.index = active.count
        active.append(transfer)
        guard !transfer.wasCancelled else { return end(transfer, .cancelled(during: .queue)) }
        if let control = transfer.request.priorityControl { transfer.attach(to: control) }
        admit(transfer)
    }

    /// Starts a transfer, or lets it wait until it may start.
    private func admit(_ transfer: Transfer) {
        let message = transfer.message
        let slot = scheduler.enter(
            transfer,
            scheme: message.scheme,
            authority: message.authority,
            priority: message.request.options.priority
        )
        transfer.slot = slot
        if slot.isWaiting {
            transfer.wait(since: now)
            watchDeadline(of: transfer)
        } else {
            launch(transfer)
        }
    }

    private func takeTurn(_ transfer: Transfer) {
        transfer.slot?.takeTurn()
        transfer.queueTime.stopWaiting(at: now)
        launch(transfer)
    }

    /// - Parameter freshly: Whether to open a new connection.
    private func launch(_ transfer: Transfer, freshly: Bool = false) {
        do throws(NetworkError) {
            add(try transfer.prepare(freshly: freshly || hasLeftNetwork), of: transfer)
        } catch {
            transfer.fail(error)
            forget(transfer)
        }
    }

    /// Releases a transfer's place for others.
    private func releaseSlot(of transfer: Transfer) {
        if let slot = transfer.slot { scheduler.leave(slot) }
        transfer.slot = nil
    }

    private func raise(_ transfer: Transfer, to priority: Priority) {
        guard transfer.index != nil, priority > transfer.request.options.priority else { return }
        if let failure = transfer.raisePriority(to: priority) { return end(transfer, failure) }
        guard var slot = transfer.slot else { return }
        transfer.slot = nil
        scheduler.raise(&slot, to: priority)
        transfer.slot = slot
    }

    private func add(_ hop: Hop, of transfer: Transfer) {
        guard let resolver = configuration.resolver else { return insert(hop, of: transfer) }
        do throws(NetworkError) {
            guard let origin = try hop.nameToResolve() else { return insert(hop, of: transfer) }
            let task = Task { [weak transfer, self] in
                let addresses = await origin.addresses(by: resolver)
                if let transfer { post(.connect(transfer, to: addresses, of: origin)) }
            }
            hop.resolution = Hop.Resolution(origin: origin, task: task)
            watchDeadline(of: transfer)
        } catch {
            failOrFallBack(transfer, error)
        }
    }

    /// Continues a hop after the app has resolved its host. A transfer that has ended in the meantime has no hop.
    private func connect(_ transfer: Transfer, to found: Result<[IPAddress], NetworkError>, of origin: Origin) {
        // Addresses of an alternative that was abandoned in the meantime don't apply to the origin.
        guard transfer.index != nil, let hop = transfer.hop, hop.resolution?.origin == origin else { return }
        do throws(NetworkError) {
            try hop.connect(to: try found.get(), of: origin)
            hop.resolution = nil
            insert(hop, of: transfer)
        } catch {
            failOrFallBack(transfer, error)
        }
    }

    private func insert(_ hop: Hop, of transfer: Transfer) {
        hop.sender.willStart()
        let code = curl_multi_add_handle(multi, hop.easy.pointer)
        guard code == CURLM_OK else {
            return end(
                transfer,
                NetworkError(
                    .other,
                    during: .queue,
                    "libcurl did not accept the transfer: \(String(cString: curl_multi_strerror(code)))"
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
            let hop = Hop.from(context)
            if code == CURLE_OK { hop.easy.allowReuse(by: spareHandles) }
            conclude(hop, code)
        }
    }

    private func conclude(_ hop: Hop, _ code: CURLcode) {
        let transfer = hop.transfer
        // libcurl may mistake the end of a connection that was shut down for the end of a body.
        if code == CURLE_OK, hop.connection?.wasOn(shutSockets) == true { hop.failure = .emptyFrameFlood }
        if code == CURLE_OK, hop.failure == nil, let webSocket = transfer.webSocket {
            return begin(webSocket, of: transfer, hop)
        }
        remove(hop)
        switch transfer.conclude(hop, code) {
        case .end: forget(transfer)
        case .sameOrigin(let freshly): launch(transfer, freshly: freshly)
        case .otherOrigin:
            releaseSlot(of: transfer)
            admit(transfer)
        }
    }

    /// Records whether an origin multiplexes requests on one connection.
    func recordProtocol(_ slot: TransferScheduler<Transfer>.Slot, isMultiplexed: Bool) {
        scheduler.recordProtocol(slot, isMultiplexed: isMultiplexed)
    }

    /// Resumes a paused transfer. libcurl itself doesn't report the errors of callbacks that it calls during this.
    private func resume(_ transfer: Transfer) {
        if transfer.webSocket != nil { return serve(transfer) }
        guard let hop = transfer.hop else { return }
        if let failure = hop.resume() { end(transfer, failure) }
    }

    /// Ends a transfer before libcurl does. Has no effect on a transfer that has ended or hasn't started.
    func end(_ transfer: Transfer, _ error: NetworkError) {
        guard transfer.index != nil else { return }
        if let hop = transfer.hop { remove(hop) }
        transfer.fail(error)
        forget(transfer)
    }

    /// Ends a transfer that didn't reach its server, or retries it at the origin if the server was an alternative
    /// service.
    private func failOrFallBack(_ transfer: Transfer, _ error: NetworkError) {
        guard transfer.index != nil, let hop = transfer.hop, transfer.fallBackToOrigin(at: now) else {
            return end(transfer, error)
        }
        remove(hop)
        launch(transfer)
    }

    /// Removes a hop from the multi handle; libcurl doesn't call its callbacks afterwards.
    private func remove(_ hop: Hop) {
        hop.dropPaused()
        curl_multi_remove_handle(multi, hop.easy.pointer)
        forgetLost(hop.wire.sockets)
        guard let connection = hop.connection else { return }
        connection.end(at: poller.pollCount)
        if connection.isMultiplexed != true { needsPoll = true }
    }

    private func forget(_ transfer: Transfer) {
        guard let index = transfer.index else { return }
        transfer.index = nil
        transfer.request.priorityControl?.detach()
        releaseSlot(of: transfer)
        let last = active.removeLast()
        guard last !== transfer else { return }
        last.index = index
        active[index] = last
    }

    // MARK: deadlines: checked only when the earliest one passes, so that activity costs nothing

    func watchDeadline(of transfer: Transfer) {
        guard let deadline = transfer.deadline(at: now) else { return }
        nextDeadline = min(nextDeadline ?? .max, deadline)
    }

    private func checkDeadlines() {
        nextDeadline = nil
        for transfer in active {
            transfer.hop?.checkSpeed(at: now)
            if let end = transfer.hop?.rateLimitEnd, end <= now { resume(transfer) }
            keepAlive(transfer)
            guard let deadline = transfer.deadline(at: now) else { continue }
            if deadline > processed.until {
                nextDeadline = min(nextDeadline ?? .max, deadline)
            } else if let hop = transfer.hop, let end = hop.completionDeadline, end <= processed.until {
                conclude(hop, CURLE_OK)
            } else {
                failOrFallBack(transfer, transfer.timeout(at: now))
            }
        }
    }

    // MARK: long-lived transfers

    /// Records that a transfer is long-lived, so that the next one like it runs on a loop on which it holds up no other
    /// transfer.
    func noteLongLived(_ transfer: Transfer) {
        guard role != .longLived, !transfer.isKnownLongLived else { return }
        transfer.isKnownLongLived = true
        // Otherwise other transfers might wait indefinitely for its place.
        releaseSlot(of: transfer)
        streams.note(transfer.request, on: role)
    }

    /// Checks from time to time for long-lived transfers. Doesn't wake an idle loop, because they hold up nothing
    /// there.
    private func reviewTransfers() {
        nextReview = now.advanced(by: min(configuration.longLivedAfter, .seconds(1)))
        guard role != .longLived else { return }
        for transfer in active where transfer.isOpenEnded(after: configuration.longLivedAfter, at: now) {
            noteLongLived(transfer)
        }
    }

    // MARK: progress

    func noteProgress(_ transfer: Transfer) {
        if transfer.isProgressDue { return }
        transfer.isProgressDue = true
        progressing.append(transfer)
    }

    private func reportProgress() {
        guard !progressing.isEmpty, nextProgress <= now else { return }
        nextProgress = now.advanced(by: ProgressPace.interval)
        let due = progressing
        progressing.removeAll(keepingCapacity: true)
        for transfer in due { transfer.reportProgress() }
    }

    // MARK: readers of streamed bodies, resumed once a turn

    func noteWritten(_ pipe: BodyPipe) {
        if written.last !== pipe { written.append(pipe) }
    }

    private func wakeReaders() {
        for pipe in written { pipe.wake() }
        written.removeAll(keepingCapacity: true)
    }

    /// Notes that a completion ran here. It may have taken long, so the last look at the sockets is out of date.
    func notePossibleDelay() { needsPoll = true }

    // MARK: libcurl's callbacks

    private func configureMulti() {
        let me = Unmanaged.passUnretained(self).toOpaque()
        beagle_multi_set_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
        // libcurl's default is four times the transfers in flight.
        beagle_multi_set_long(multi, CURLMOPT_MAXCONNECTS, configuration.maxIdleConnections)
        // In case a server allows fewer streams per connection than `TransferScheduler` assumes.
        let unlimited = 0
        let limits = role.limits(of: configuration)
        beagle_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, limits.connectionsPerOrigin ?? unlimited)
        beagle_multi_set_pointer(multi, CURLMOPT_TIMERDATA, me)
        beagle_multi_set_timer_callback(multi) { _, milliseconds, context in
            EventLoop.with(context) { $0.setTimer(milliseconds) }
            return 0
        }
        guard poller.watchesSockets else { return }
        beagle_multi_set_pointer(multi, CURLMOPT_SOCKETDATA, me)
        beagle_multi_set_socket_callback(multi) { _, socket, what, context, _ in
            EventLoop.with(context) { $0.poller.watch(socket, what) }
            return 0
        }
    }

    private func setTimer(_ milliseconds: Int) {
        timer = milliseconds < 0 ? nil : milliseconds == 0 ? 0 : now &+ UInt64(milliseconds) &* 1_000_000
    }

    func openedSocket(_ socket: Int32, mayHang: Bool) -> OpenSockets.Identity {
        forget(socket)
        poller.opened(socket, mayHang: mayHang)
        resourceTracker?.add(.socket)
        return sockets.insert(socket)
    }

    /// Returns whether a socket was connected, even if it has been closed since.
    func isConnected(_ socket: OpenSockets.Identity) -> Bool { sockets.wasConnected(socket) }

    func closeSocket(_ socket: Int32) -> Int32 {
        sockets.willClose(socket)
        forget(socket)
        #if canImport(Glibc)
            return Glibc.close(socket)
        #elseif canImport(Musl)
            return Musl.close(socket)
        #else
            return Darwin.close(socket)
        #endif
    }

    /// Forgets those of a hop's sockets that libcurl has closed without calling back.
    func forgetLost(_ opened: [OpenSockets.Identity]) {
        for socket in opened where sockets.isLost(socket.number) { forget(socket.number, isLost: true) }
    }

    private func forget(_ socket: Int32, isLost: Bool = false) {
        guard sockets.remove(socket) else { return }
        if isLost { poller.lost(socket) } else { poller.closing(socket) }
        if let proxy = connections.remove(socket)?.tunnel { tunnelOwners.closeTunnel(of: proxy) }
        webSockets[socket] = nil
        resourceTracker?.add(.socket, -1)
    }

    // MARK: shutting down

    /// Fails the remaining transfers and frees everything, the handles before the multi handle.
    private func close() {
        for command in inbox.close() {
            guard case .start(let transfer) = command else {
                reject(command)
                continue
            }
            transfer.index = active.count
            active.append(transfer)
        }
        for transfer in active.reversed() {
            end(transfer, transfer.wasCancelled ? .cancelled(during: transfer.phase) : .shutDown)
        }
        // These retain the loop, too.
        progressing = []
        written = []
        nextGroup = nil
        checkedExtras = nil
        LoopThread.setLoop(nil)
        tasks.resumeAll()
        poller.close()
        spareHandles.free()
        curl_multi_cleanup(multi)
        beagle_free_blocks()
    }
}

extension LoopRole {
    /// Returns the limits on concurrency. Long-lived transfers have no limits, because others might wait
    /// indefinitely for their places.
    fileprivate func limits(of configuration: CurlTransport.Configuration) -> TransferScheduler<Transfer>.Limits {
        guard self != .longLived else { return TransferScheduler.Limits() }
        return TransferScheduler.Limits(
            connections: configuration.maxConnections,
            connectionsPerOrigin: configuration.maxConnectionsPerOrigin,
            streamsPerOrigin: configuration.maxStreamsPerOrigin
        )
    }
}

extension NetworkError {
    fileprivate static var emptyFrameFlood: NetworkError {
        NetworkError(
            .protocol,
            during: .body,
            "the connection was closed because the server kept sending frames without content"
        )
    }

    fileprivate static var shutDown: NetworkError {
        NetworkError(.shutdown, during: .queue, "the transport was shut down", advice: "create a new transport")
    }
}
