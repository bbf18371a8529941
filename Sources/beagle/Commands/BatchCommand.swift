import ArgumentParser
import BeagleNetCurl
import BeagleNetDiskCache
import BeagleNetHTTP
import BeagleNetReplay
import Foundation

/// The `beagle batch` command, which sends many requests concurrently, as JSON Lines.
struct BatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "batch",
        abstract: "Read requests from standard input as JSON Lines, and send them.",
        discussion: """
            Each line of standard input is a request. Each line of standard output is a reply with the id of its \
            request, written as soon as the request is done. After the end of input or {"op":"quit"}, the command ends \
            when all requests are done. At most 512 requests run at a time; more input is read as they complete.

            REQUEST
              {"id", "url", "method", "headers": [["Name", "value"]],
               "body" | "bodyBase64" | "bodySize": number of bytes "u" to send,
               "timeoutMs", "connectTimeoutMs", "maxBodyBytes", "tlsCA": a PEM file,
               "httpVersion": "1.1" | "2" | "3", "redirect": "follow" | "manual",
               "cacheMode": "default" | "no-store" | "reload" | "no-cache" | "force-cache" | "only-if-cached"}

            REPLY
              {"id", "status", "headers", "bodyBytes", "bodySha256",
               "body": as text if shorter than 2,000 bytes, "interim", "cache": the Cache-Status, "fromCache"}
              {"id", "error": {"code", "phase", "message"}}

            CONTROL
              {"id", "op": "hello"} describes the cache, {"id", "op": "clear"} empties it, and
              {"op": "quit"} ends the command.

            Responses are stored in memory, or, if the environment variable CACHE_DIR names a directory, also there, \
            for later runs. CACHE_MAX_BYTES limits its size. With CACHE_DIR, equal GET requests that run at the same \
            time share one response.

            EXAMPLE
              echo '{"id": 1, "url": "http://127.0.0.1:8080/home"}' | beagle batch
            """
    )

    @OptionGroup var replay: ReplayFlags
    @OptionGroup var recording: RecordingFlags

    func run() async throws {
        let console = Console()
        let transport: any HTTPTransport
        let disk: DiskResponseStore?
        do throws(NetworkError) {
            disk = try Self.disk(in: ProcessInfo.processInfo.environment, console)
            let network = CurlTransport()
            let answering: any HTTPTransport = try replay.transport(network, console) ?? network
            transport = try recording.recorded(answering, console)
        } catch {
            console.note(error)
            throw ExitCode(ExitCode.number(for: error))
        }
        do {
            try await Interrupt.cancelling { try await Self.serve(BatchClient(transport, disk: disk)) }
        } catch let interrupt as Interrupt {
            throw ExitCode(interrupt.exitCode)
        }
    }

    /// The maximum number of concurrent requests. Each uses a socket, and a process may usually have 1,024 file
    /// descriptors.
    private static let width = 512

    /// Opens the cache of the environment, if there is one.
    private static func disk(
        in environment: [String: String],
        _ console: Console
    ) throws(NetworkError) -> DiskResponseStore? {
        guard let folder = environment["CACHE_DIR"], !folder.isEmpty else { return nil }
        var maxBytes = DiskResponseStore.defaultMaxBytes
        if let text = environment["CACHE_MAX_BYTES"], !text.isEmpty {
            guard let limit = Int(text), limit >= 0 else {
                throw NetworkError(.badConfiguration, during: .build, "CACHE_MAX_BYTES is not a number of bytes")
            }
            maxBytes = limit
        }
        return try DiskResponseStore(folder: folder, maxBytes: maxBytes) { console.note($0) }
    }

    /// Answers the lines of standard input until the end of input.
    private static func serve(_ client: BatchClient) async throws {
        let writer = ReplyWriter()
        await withTaskGroup(of: Void.self) { group in
            var count = 0
            for await line in LineReader.lines() where !line.allSatisfy(\.isWhitespace) {
                let line = Result { () throws(NetworkError) in try BatchLine(line) }
                if case .success(let line) = line, line.operation == "quit" { break }
                if count == width { await group.next() } else { count += 1 }
                group.addTask {
                    let (id, reply) = await reply(to: line, with: client)
                    await writer.write(.object(reply.merging(["id": id]) { $1 }))
                }
            }
        }
        await client.finish()
        try Task.checkCancellation()
    }

    private static func reply(
        to line: Result<BatchLine, NetworkError>,
        with client: BatchClient
    ) async -> (id: JSONValue, [String: JSONValue]) {
        var id = JSONValue.null
        do throws(NetworkError) {
            let line = try line.get()
            id = line.id
            switch line.operation {
            case nil:
                return (id, try BatchReply.answered(try await client.response(to: line)))
            case "hello": return (id, BatchReply.hello(client.features))
            case "clear":
                await client.clear()
                return (id, [:])
            case let operation?:
                throw NetworkError(.badRequest, during: .build, "unknown op \(operation)")
            }
        } catch {
            return (id, BatchReply.failed(error))
        }
    }
}

/// Writes replies one at a time, so that lines are never mixed.
///
/// A request counts as running until its reply is written. If the replies aren't read, no more requests start.
private actor ReplyWriter {
    private let console = Console()

    func write(_ reply: JSONValue) {
        console.line("\(reply)")
    }
}
