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

/// Asks a server, forks, and asks it again with the same transport from the child and then from the parent. It ends with
/// 0 where each had an answer.
@main
struct ForkProbe {
    static func main() {
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
