import Foundation
import Testing

@testable import BeagleNet

/// What of a request's options tells operations apart.
@Suite struct OperationKeyTests {
    private func key(_ options: TransferOptions) throws -> NetworkOperation.Key? {
        let url = try #require(URL(string: "http://host/a"))
        let head = HTTPRequest(method: .get, scheme: "http", authority: "host", path: "/a")
        let operation = NetworkOperation(Request(url: url, type: .fetchComponent))
        return operation.makeKey(TransferRequest(head, options: options), for: 0)
    }

    private func options(_ change: (inout TransferOptions) -> Void) -> TransferOptions {
        var options = TransferOptions(timeouts: Timeouts(connect: .seconds(1)))
        change(&options)
        return options
    }

    @Test func eachOptionTellsOperationsApart() throws {
        let limits: [WritableKeyPath<Timeouts, Duration?>] = [
            \.resolve, \.connect, \.tls, \.firstByte, \.idle, \.total,
        ]
        var all = [TransferOptions(), options { _ in }]
        for limit in limits {
            for seconds in [-1, 7, 1 << 40] {
                all.append(options { $0.timeouts[keyPath: limit] = seconds < 0 ? .nanoseconds(1) : .seconds(seconds) })
            }
        }
        for limit in [\Timeouts.connect, \.firstByte, \.idle, \.total] {
            all.append(options { $0.timeouts[keyPath: limit] = nil })
        }
        let decide: @Sendable (RedirectPolicy.Proposal) -> RedirectPolicy.Decision = { _ in .follow }
        all += [
            options { $0.redirects = .manual }, options { $0.redirects.allowsInsecure = true },
            options { $0.redirects = .follow.deciding(decide) }, options { $0.maxBodyBytes = nil },
            options { $0.maxBodyBytes = 1 }, options { $0.version = .http2 }, options { $0.priority = .interactive },
            options { $0.usesCookies = false }, options { $0.isLongLived = true }, options { $0.minimumTLS = .tls13 },
        ]
        let keys = try all.map { try #require(try key($0)) }
        #expect(Set(keys).count == all.count)
        #expect(try all.map { try key($0) } == keys)
    }

    /// One that comes to them has to come to the key.
    @Test func allOptionsAreKnown() {
        func names(_ value: Any) -> [String] { Mirror(reflecting: value).children.compactMap(\.label) }
        let options = TransferOptions()
        #expect(names(options) == ["timeouts", "redirects", "maxBodyBytes", "version", "priority", "extras"])
        #expect(names(options.timeouts) == ["resolve", "connect", "tls", "firstByte", "idle", "total"])
        #expect(names(options.redirects) == ["limit", "allowsInsecure", "hook"])
    }
}
