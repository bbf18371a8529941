import BeagleNetCurl
import BeagleNetHTTP
import BeagleNetTesting
import CurlPeers
import Testing

/// Invalid limits of a transfer.
@Suite(.leavesNothing)
struct LimitOptionTests {
    struct Value: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let set: @Sendable (inout TransferOptions) -> Void

        init(_ name: String, _ set: @escaping @Sendable (inout TransferOptions) -> Void) {
            testDescription = name
            self.set = set
        }
    }

    static let values = [
        Value("timeouts.resolve") { $0.timeouts.resolve = .zero },
        Value("timeouts.connect") { $0.timeouts.connect = .seconds(-1) },
        Value("timeouts.tls") { $0.timeouts.tls = .zero },
        Value("timeouts.firstByte") { $0.timeouts.firstByte = .zero },
        Value("timeouts.idle") { $0.timeouts.idle = .zero },
        Value("timeouts.total") { $0.timeouts.total = .seconds(-1) },
        Value("bandwidth.receive") { $0.bandwidth.receive = 0 },
        Value("bandwidth.send") { $0.bandwidth.send = -1 },
        Value("minimumSpeed.bytesPerSecond") { $0.minimumSpeed = TransferOptions.MinimumSpeed(bytesPerSecond: 0) },
        Value("minimumSpeed.window") { $0.minimumSpeed = TransferOptions.MinimumSpeed(bytesPerSecond: 1, over: .zero) },
        Value("minimumSpeed") {
            $0.minimumSpeed = TransferOptions.MinimumSpeed(bytesPerSecond: 11)
            $0.bandwidth.receive = 10
        },
        Value("expect") { $0.expect = .ask(from: -1) },
        Value("expect") { $0.expect = .ask(timeout: .zero) },
        Value("expect") { $0.expect = .ask(timeout: .seconds(1_000_000)) },
    ]

    @Test(arguments: values) func errorNamesTheInvalidLimit(_ value: Value) async throws {
        let server = try LoopbackServer(.response(200))
        var options = TransferOptions()
        value.set(&options)
        let error = try await CurlTransport().failure(of: server.request(.post, body: HTTPBody("x"), options: options))
        #expect(error.kind == .badConfiguration && error.phase == .build)
        #expect(error.message.hasPrefix("TransferOptions.\(value.testDescription): "), "\(error)")
        #expect(error.advice != nil && !error.mayHaveReachedServer)
        #expect(server.record.connections == 0)
    }

    @Test func longestTimeoutsAreAccepted() async throws {
        let server = try LoopbackServer(.response(200))
        let longest = Duration(secondsComponent: .max, attosecondsComponent: 0)
        let timeouts = TransferOptions.Timeouts(
            resolve: longest,
            connect: longest,
            tls: longest,
            firstByte: longest,
            idle: longest,
            total: longest
        )
        let options = TransferOptions(timeouts: timeouts)
        #expect(try await CurlTransport().perform(server.request(options: options)).status.code == 200)
    }
}
