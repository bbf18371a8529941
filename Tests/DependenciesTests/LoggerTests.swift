import Logging
import Testing

@testable import BeagleNetDependencies

struct LoggerTests {
    private let request = Log.network(.httpRequest(request: .init(method: "GET", url: "http://h/")))
    private let fault = Log.network(.networkClientWasNotConfigured)

    @Test func messagesDescribeEventsInOneLine() {
        let request = Log.NetworkRequest(
            method: "POST",
            url: "http://h/a",
            headers: [.init(name: "Accept", value: "*/*")],
            body: "3 bytes"
        )
        #expect(Log.network(.httpRequest(request: request)).message == "-> POST http://h/a [3 bytes; Accept: */*]")
        let response = Log.NetworkResponse(status: 200, url: "http://h/a", duration: .microseconds(12_400))
        #expect(Log.network(.httpResponse(response: response)).message == "<- 200 http://h/a in 12 ms")
        let failure = Log.NetworkResponse(status: nil, url: "http://h/a", failure: "no connection")
        #expect(Log.network(.httpResponse(response: failure)).message == "<- no connection http://h/a")
        #expect(Log.network(.couldNotBuildUrl(url: "x")).message == "Could not build a URL from x")
    }

    @Test func onlyEventsNotReportedAsErrorsAreAboveDebug() {
        let failure = Log.NetworkResponse(status: nil, url: "http://h/", failure: "no connection")
        #expect(Log.network(.httpResponse(response: failure)).level == .debug)
        #expect(Log.network(.couldNotBuildUrl(url: "x")).level == .debug)
        #expect(fault.level == .error)
        #expect(request.level == .debug)
        #expect(LogLevel.allCases.sorted() == [.debug, .info, .warning, .error])
    }

    @Test func offLoggerAcceptsNoLevel() {
        let dependencies = BeagleDependencies()
        dependencies.logger = .off
        #expect(LogLevel.allCases.allSatisfy { !dependencies.logger.accepts($0) })
    }

    @Test func testsAndPreviewsLogNothingByDefault() {
        #expect(BeagleDependencies(.test).logger is OffLogger)
        #expect(BeagleDependencies(.preview).logger is OffLogger)
        #expect(BeagleDependencies(.live).logger is SwiftLogLogger)
    }

    @Test func levelLoggerForwardsItsLevelAndAbove() {
        let memory = MemoryLogger()
        let logger = LevelLogger(.error, memory)
        logger.log(request)
        logger.log(fault)
        #expect(memory.messages == [fault.message])
        #expect(!logger.accepts(.info) && logger.accepts(.error))
    }

    @Test func multiplexerForwardsToEachAcceptingLogger() {
        let all = MemoryLogger()
        let errors = MemoryLogger()
        let logger = MultiplexLogger(all, LevelLogger(.error, errors), .off)
        logger.log(request)
        logger.log(fault)
        #expect(all.messages.count == 2)
        #expect(errors.messages == [fault.message])
        #expect(logger.accepts(.debug))
        #expect(!MultiplexLogger(.off).accepts(.error))
    }

    @Test func consoleEscapesControlCharacters() {
        let log = Log.network(.couldNotBuildUrl(url: "a\r\nb\u{1B}[31mé"))
        #expect(ConsoleLogger.line(log) == "debug Network: Could not build a URL from a\\r\\nb\\u{1B}[31mé\n")
    }

    @Test func swiftLogReceivesLevelTextAndCategory() {
        let sink = Sink()
        var logger = Logger(label: "beagle") { _ in sink }
        logger.logLevel = .info
        SwiftLogLogger(logger).log(fault)
        #expect(sink.memory.withLock { $0 } == ["error [Network] The network client was not configured"])
        #expect(!SwiftLogLogger(logger).accepts(.debug))
        #expect(SwiftLogLogger(logger).accepts(.info))
    }
}

private struct Sink: LogHandler {
    let memory = RecursiveLock<[String]>([])
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        memory.withLock { $0.append("\(event.level) [\(event.source)] \(event.message)") }
    }
}
