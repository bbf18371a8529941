import ArgumentParser
import BeagleNetHTTP
import Testing

@testable import beagle

struct ExitCodeTests {
    private static let errorMapsToCurlsExitCodeArguments: [(NetworkError.Kind, NetworkError.Phase, Int?, Int32)] = [
        (NetworkError.Kind.unsupportedScheme, NetworkError.Phase.build, nil, 1),
        (.badURL, .build, nil, 3), (.dns, .resolve, 6, 6), (.dns, .resolve, nil, 6), (.connect, .connect, nil, 7),
        (.connect, .connect, 97, 97), (.timeout, .connect, 28, 28), (.timeout, .body, nil, 28),
        (.tls, .tls, 60, 60), (.tls, .tls, nil, 35), (.tooManyRedirects, .redirect, nil, 47),
        (.insecureRedirect, .redirect, nil, 1), (.truncated, .body, 56, 18), (.tooLarge, .body, 23, 63),
        (.encoding, .decode, 23, 61), (.cancelled, .queue, 42, 42), (.badRequest, .build, nil, 43),
        (.file, .file, nil, 23), (.file, .send, nil, 26), (.network, .firstByte, nil, 52),
        (.network, .body, nil, 56),
        (.network, .body, 92, 92), (.protocol, .firstByte, nil, 8), (.protocol, .body, 56, 56),
        (.protocol, .firstByte, 1000, 8),
        (.decoding, .decode, nil, 101), (.status, .response, nil, 22), (.other, .response, nil, 2),
        (.notStored, .queue, nil, 106), (.notStored, .file, nil, 2),
    ]

    @Test(arguments: Self.errorMapsToCurlsExitCodeArguments)
    func errorMapsToCurlsExitCode(
        _ kind: NetworkError.Kind,
        _ phase: NetworkError.Phase,
        _ transportCode: Int?,
        _ number: Int32
    ) {
        var error = NetworkError(kind, during: phase, "")
        error.transportCode = transportCode
        #expect(ExitCode.number(for: error) == number)
    }

    private static let helpListsTheExitCodeArguments: [Int32] = [
        ExitCode.writeFailed, ExitCode.readFailed, ExitCode.weirdReply, ExitCode.httpError, ExitCode.badAuthorities,
        ExitCode.noRanges, ExitCode.usage, ExitCode.invalidContent, ExitCode.different, ExitCode.notInRecording,
        ExitCode.storedInOutbox, ExitCode.notStored, ExitCode.faultsFound, 0, 130,
    ]

    @Test(arguments: Self.helpListsTheExitCodeArguments)
    func helpListsTheExitCode(_ number: Int32) {
        let help = Tool.helpMessage(columns: 100)
        #expect(help.split(separator: "\n").contains { $0.trimmingPrefix { $0 == " " }.hasPrefix("\(number) ") })
    }

    @Test func helpContainsNoSourceCode() {
        let commands = [Tool.self] + Tool.configuration.subcommands.flatMap { [$0] + $0.configuration.subcommands }
        for command in commands { #expect(!Tool.helpMessage(for: command).contains(".self"), "\(command)") }
    }
}
