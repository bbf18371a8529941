import BeagleNet
import BeagleNetCurl

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Submits forms through an outbox until it is killed, for the tests.
///
/// `OutboxProbe DIRECTORY URL FIRST` submits to `URL/N` for N from FIRST, in three queues, and prints each N in a line
/// as soon as the outbox has kept it. `OutboxProbe DIRECTORY once` submits once, without a server that responds.
/// `OutboxProbe urls TEXT...` prints the URL of each text, or the error. Unlike the tests, this program doesn't link
/// Foundation.
@main
struct OutboxProbe {
    static func main() async {
        let arguments = CommandLine.arguments
        if arguments.count > 1, arguments[1] == "urls" { return arguments.dropFirst(2).forEach { say(wireURL($0)) } }
        if arguments.count == 3, arguments[2] == "once" { return await submitOnce(to: Outbox(directory: arguments[1])) }
        guard arguments.count == 4, let first = Int(arguments[3]) else { exit(64) }
        let outbox = Outbox(directory: arguments[1])
        let dependencies = BeagleDependencies()
        dependencies.interceptors.replace(
            with: RetryInterceptor(backoff: Backoff(base: .milliseconds(2), cap: .milliseconds(5), limit: 2))
        )
        dependencies.interceptors.add(OutboxInterceptor(outbox))
        let client = NetworkClientDefault(dependencies: dependencies)
        let changes = outbox.changes
        let watching = Task { await report(changes) }
        let sender = outbox.sendAutomatically(
            with: client,
            backoff: Backoff(base: .milliseconds(2), cap: .milliseconds(20))
        )
        await withTaskGroup(of: Void.self) { group in
            for queue in 0..<3 {
                group.addTask { await submit(to: arguments[2], from: first + queue, client) }
            }
        }
        watching.cancel()
        withExtendedLifetime((sender, dependencies)) {}
    }

    /// The URL of a request to this text.
    private static func wireURL(_ text: String) -> String {
        do throws(NetworkError) {
            let head = try HttpRequestBuilder().build(
                Request(url: try UrlBuilder().url(for: text), type: .fetchImage)
            ).head
            return "\(head.scheme ?? "")://\(head.authority ?? "")\(head.path ?? "")"
        } catch {
            return error.message
        }
    }

    /// Submits a form without a server, and prints when it would be sent and the outcome.
    private static func submitOnce(to outbox: Outbox) async {
        let dependencies = BeagleDependencies()
        dependencies.interceptors = [OutboxInterceptor(outbox), Unreachable()]
        let client = NetworkClientDefault(dependencies: dependencies)
        guard let url = URL(string: "http://host/form") else { exit(64) }
        do throws(NetworkError) {
            _ = try await client.executeRequest(
                Request(url: url, type: .submitForm(.init(method: .post, values: ["a": "1"])))
            )
            say("answered")
        } catch {
            let isSent = error.mayHaveReachedServer ? "sent" : "not sent"
            say(error.isStoredInOutbox ? "kept" : "\(error.kind.rawValue), not kept, \(isSent): \(error.message)")
        }
        withExtendedLifetime(client) {}
    }

    /// Submits forms one after another, and leaves kept forms to the outbox.
    private static func submit(to url: String, from first: Int, _ client: NetworkClientDefault) async {
        for number in sequence(first: first, next: { $0 + 3 }) {
            guard let url = URL(string: "\(url)/\(number)") else { exit(64) }
            let form = Request.FormData(method: .post, values: ["number": "\(number)"])
            var operation = NetworkOperation(Request(url: url, type: .submitForm(form)))
            operation.outbox = .queue("\(number % 3)")
            do throws(NetworkError) {
                _ = try await client.run(operation)
            } catch {
                guard error.isStoredInOutbox else { exit(1) }
            }
            say("\(number)")
        }
    }

    private static func report(_ changes: AsyncStream<[Outbox.Entry]>) async {
        for await entries in changes {
            for entry in entries { say(entry.url.split(separator: "/").last.map(String.init) ?? "") }
        }
    }

    /// Prints a line with a single unbuffered write.
    static func say(_ line: String) {
        var bytes = Array("\(line)\n".utf8)
        if write(STDOUT_FILENO, &bytes, bytes.count) < 0 { exit(2) }
    }
}

/// The end of the pipeline. It prints when it receives a request.
private struct Unreachable: Interceptor {
    func intercept(
        _ operation: NetworkOperation,
        next: Next,
        emit: @escaping Emit
    ) async throws(NetworkError) -> NetworkOperation.Result {
        OutboxProbe.say("sent")
        throw NetworkError(.connect, during: .connect, "nobody is there")
    }
}
