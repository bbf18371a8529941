public import BeagleNetCache
import BeagleNetDiskCache
import BeagleNetHTTP
import Foundation

/// Writes responses to a store on the disk until it is killed, for the tests.
///
/// `DiskCacheProbe FOLDER SEED` prints a line after each change. It exits with 1 if the store reports a problem or
/// returns wrong bytes.
@main
struct DiskCacheProbe {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let seed = UInt64(arguments[2]) else { exit(64) }
        // On a busy machine, the other probe may hold the lock for long.
        var settings = DiskResponseStore.Settings()
        settings.busyTimeout = 200
        let store = try DiskResponseStore(
            folder: arguments[1],
            maxBytes: ProbeResponse.maxBytes,
            settings: settings
        ) { problem in
            say("problem: \(problem)")
            exit(1)
        }
        var state = seed
        while true {
            // A linear congruential generator (Knuth, MMIX).
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let random = Int(state >> 33)
            let response = ProbeResponse(random % ProbeResponse.count)
            switch random / ProbeResponse.count % 16 {
            case 0: await store.remove(response.key)
            case 1...4:
                let stored = await store.responses(for: response.key)
                if !stored.allSatisfy(response.isRight) {
                    say("problem: wrong bytes of \(response.key.target)")
                    exit(1)
                }
            default: await store.insert(response.stored, for: response.key)
            }
            say(response.key.target)
        }
    }

    /// In one piece, and past every buffer.
    private static func say(_ line: String) {
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }
}

/// A response whose body follows from its URL.
public struct ProbeResponse: Sendable {
    /// The number of URLs.
    public static let count = 200
    /// Less than all responses take.
    public static let maxBytes = 6 << 20

    private let number: Int

    /// The response of a URL.
    public init(_ number: Int) {
        self.number = number
    }

    /// The key of the URL.
    public var key: ResponseKey { ResponseKey(scheme: "https", authority: "host", target: "/\(number)?secret") }

    /// The body: one of four is large enough for a file of its own.
    private var body: Data {
        let count = number % 4 == 0 ? 70_000 + number * 500 : number * 200
        return Data(String(repeating: "\(number),", count: count / 4).utf8)
    }

    /// The response to store.
    public var stored: StoredResponse {
        StoredResponse(
            head: HTTPResponse(status: .ok, headerFields: [.eTag: "\"\(number)\""]),
            body: body,
            url: "https://host\(key.target)",
            requestTime: Date(timeIntervalSince1970: 1_000_000),
            responseTime: Date(timeIntervalSince1970: 1_000_001)
        )
    }

    /// Whether a response is the stored one.
    public func isRight(_ response: StoredResponse) -> Bool {
        response.body == body && response.head.headerFields[.eTag] == "\"\(number)\""
            && response.url == "https://host\(key.target)"
    }
}
