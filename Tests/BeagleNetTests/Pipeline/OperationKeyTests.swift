import Foundation
import Testing

@testable import BeagleNet

/// The parts of an operation that distinguish it from others.
struct OperationKeyTests {
    private func operation(
        _ options: TransferOptions = .standard,
        _ name: String = "",
        for credentialOwner: Int = 0,
        request changeRequest: (inout Request) -> Void = { _ in },
        transfer change: (inout TransferRequest) -> Void = { _ in }
    ) throws -> NetworkOperation {
        var request = Request(url: try #require(URL(string: "http://host/a")), type: .fetchComponent)
        changeRequest(&request)
        let head = HTTPRequest(method: .get, scheme: "http", authority: "host", path: "/a")
        var transfer = TransferRequest(head, options: options)
        change(&transfer)
        var operation = NetworkOperation(request)
        operation.partition = name
        return operation.sending(transfer, .none, for: credentialOwner)
    }

    private func key(_ options: TransferOptions) throws -> NetworkOperation.Key? { try operation(options).key }

    private func options(_ change: (inout TransferOptions) -> Void) -> TransferOptions {
        var options = TransferOptions(timeouts: TransferOptions.Timeouts(connect: .seconds(1)))
        change(&options)
        return options
    }

    @Test func eachOptionTellsOperationsApart() throws {
        let limits: [WritableKeyPath<TransferOptions.Timeouts, Duration?>] = [
            \.resolve, \.connect, \.tls, \.firstByte, \.idle, \.total,
        ]
        var all = [TransferOptions(), options { _ in }]
        for limit in limits {
            for seconds in [-1, 7, 1 << 40] {
                all.append(options { $0.timeouts[keyPath: limit] = seconds < 0 ? .nanoseconds(1) : .seconds(seconds) })
            }
        }
        for limit in [\TransferOptions.Timeouts.connect, \.firstByte, \.idle, \.total] {
            all.append(options { $0.timeouts[keyPath: limit] = nil })
        }
        let decide: @Sendable (TransferOptions.RedirectPolicy.Proposal) -> TransferOptions.RedirectPolicy.Decision = {
            _ in .follow
        }
        all += [
            options { $0.redirects = .manual }, options { $0.redirects.allowsInsecure = true },
            options { $0.redirects = .follow.deciding(decide) }, options { $0.maxBodyBytes = nil },
            options { $0.maxBodyBytes = 1 }, options { $0.version = .http2 },
            options { $0.usesCookies = false }, options { $0.isLongLived = true }, options { $0.minimumTLS = .tls13 },
        ]
        let keys = try all.map { try #require(try key($0)) }
        #expect(Set(keys).count == all.count)
        #expect(try all.map { try key($0) } == keys)
        let questions = try all.map { try #require(try operation($0).comparedContent) }
        #expect(Set(questions).count == all.count)
        #expect(try all.map { try operation($0).comparedContent } == questions)
        // A prefetch and a tap share a run.
        for priority in Priority.allCases {
            let contents = try all.map { options in
                var options = options
                options.priority = priority
                return try #require(try operation(options).comparedContent)
            }
            #expect(contents == questions)
            #expect(try key(options { $0.priority = priority }) == keys[1])
        }
    }

    @Test func eachPartOfAMessageTellsOperationsApart() throws {
        func all() throws -> [NetworkOperation] {
            let field = HTTPField.Name("x-one")!
            let others: [(inout TransferRequest) -> Void] = [
                { $0.head.method = .put }, { $0.head.scheme = "https" }, { $0.head.authority = "other" },
                { $0.head.path = "/b" }, { $0.body = HTTPBody(Data()) }, { $0.body = HTTPBody(Data("a".utf8)) },
                { $0.head.headerFields[field] = "1" }, { $0.head.headerFields[field] = "2" },
                { $0.head.headerFields[.accept] = "1" },
                { $0.head.headerFields = HTTPFields(["1", "2"].map { HTTPField(name: field, value: $0) }) },
            ]
            return try [
                operation(), operation(.standard, "one"), operation(for: 1), operation(for: 2),
            ] + others.map { try operation(transfer: $0) }
        }
        let operations = try all()
        let questions = try operations.map { try #require($0.comparedContent) }
        #expect(Set(questions).count == operations.count)
        #expect(Set(operations.map { $0.key }).count == operations.count)
        #expect(try all().map { $0.comparedContent } == questions)
        #expect(try all().map { $0.key } == operations.map { $0.key })
        // Method, scheme and names of fields are compared alone: three of these meet others.
        #expect(Set(questions.map(\.hashValue)).count == operations.count - 3)
    }

    /// However the app writes it.
    @Test func theSameMessageIsTheSameQuestion() throws {
        var builder = HttpRequestBuilder()
        builder.additionalHeaders = ["X-Own": "builder"]
        let url = try #require(URL(string: "http://host/a"))
        builder.baseURL = url
        let written: [HttpAdditionalData?] = [
            nil, HttpAdditionalData(), HttpAdditionalData(headers: [:]), HttpAdditionalData(headers: ["X-OWN": "app"]),
            HttpAdditionalData(headers: ["x-own": "another"]), HttpAdditionalData(headers: ["Content-Type": "a/b"]),
        ]
        let operations = try written.map { additional in
            let request = Request(url: url, type: .fetchComponent, additionalData: additional)
            return NetworkOperation(request).sending(try builder.build(request), .none, for: 0)
        }
        #expect(Set(operations.map { $0.key }).count == 1)
        #expect(Set(operations.map { $0.comparedContent }).count == 1)
    }

    @Test func changedOperationKeepsItsKey() throws {
        var operation = try operation()
        let question = operation.comparedContent
        operation.transfer.head.path = "/b"
        #expect(operation.comparedContent == question)
        #expect(try operation.key == self.operation().key)
        #expect(!operation.sends(operation.key))
        operation.transfer.head.path = "/a"
        #expect(operation.sends(operation.key))
    }

    @Test func unsharedOperationHasNoKey() throws {
        #expect(try operation(transfer: { $0.body = .file(path: "/dev/null") }).key == nil)
        #expect(try operation(transfer: { $0.delivery = .stream }).key == nil)
        #expect(try operation(request: { $0.type = .rawRequest(.init()) }).key == nil)
    }

    /// A new option must be added to the key.
    @Test func allOptionsAreKnown() {
        func names(_ value: Any) -> [String] { Mirror(reflecting: value).children.compactMap(\.label) }
        let options = TransferOptions()
        #expect(names(options) == ["timeouts", "redirects", "maxBodyBytes", "version", "priority", "extras"])
        #expect(names(options.timeouts) == ["resolve", "connect", "tls", "firstByte", "idle", "total"])
        #expect(names(options.redirects) == ["limit", "allowsInsecure", "hook"])
    }
}
