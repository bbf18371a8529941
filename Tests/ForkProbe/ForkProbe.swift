import BeagleNetCurl
import BeagleNetHTTP
import Dispatch

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// What tests look at in a process of its own.
///
/// With a server's authority it asks the server, forks, and asks it again with the same transport from the child and then
/// from the parent; it ends with 0 where each had an answer. With `--look-up` and a host's name it says how requests end
/// that `Timeouts.resolve`, `connect` and `total` limit.
@main
struct ForkProbe {
    static func main() {
        if CommandLine.arguments.count == 3, CommandLine.arguments[1] == "--look-up" {
            return lookUp(CommandLine.arguments[2])
        }
        guard CommandLine.arguments.count == 2 else { exit(64) }
        let authority = CommandLine.arguments[1]
        let transport = CurlTransport()
        guard ask(authority, "/parent", transport) else { exit(1) }
        // Swift hides it, with reason: only what a single thread can do is left to a child.
        guard let symbol = dlsym(nil, "fork") else { exit(2) }
        let fork = unsafeBitCast(symbol, to: (@convention(c) () -> Int32).self)
        let child = fork()
        if child == 0 { _exit(ask(authority, "/child", transport) ? 0 : 3) }
        var status: Int32 = 0
        guard child > 0, waitpid(child, &status, 0) == child, status == 0 else { exit(4) }
        exit(ask(authority, "/parent-again", transport) ? 0 : 5)
    }

    private static func lookUp(_ host: String) {
        let transport = CurlTransport()
        let head = HTTPRequest(method: .get, scheme: "http", authority: host, path: "/")
        let limits = [
            Timeouts(resolve: .milliseconds(100), connect: nil, total: .seconds(20)),
            Timeouts(connect: .milliseconds(100)), Timeouts(connect: nil, total: .milliseconds(100)),
        ]
        for limit in limits {
            let ended = DispatchSemaphore(value: 0)
            transport.perform(TransferRequest(head, options: TransferOptions(timeouts: limit))) { result in
                switch result {
                case .success(let response): print(response.status.code)
                case .failure(let error): print(error.kind.rawValue, error.phase.rawValue, error.advice ?? "")
                }
                ended.signal()
            }
            ended.wait()
        }
    }

    private static func ask(_ authority: String, _ path: String, _ transport: CurlTransport) -> Bool {
        let answered = DispatchSemaphore(value: 0)
        let isFine = Lock(false)
        let head = HTTPRequest(method: .get, scheme: "http", authority: authority, path: path)
        _ = transport.perform(TransferRequest(head)) { result in
            if case .success(let response) = result { isFine.withLock { $0 = response.status.code == 200 } }
            answered.signal()
        }
        answered.wait()
        return isFine.withLock { $0 }
    }
}
