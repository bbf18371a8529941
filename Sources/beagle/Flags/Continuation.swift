import ArgumentParser
import BeagleNetHTTP

/// The position at which a download resumes: `--continue-at`.
enum Continuation: ExpressibleByArgument, Equatable {
    /// The position where the last download of the same URL to the same file stopped.
    case rest
    /// A byte offset.
    case offset(Int64)

    init?(argument: String) {
        if argument == "-" {
            self = .rest
        } else if let offset = Int64(argument), offset >= 0 {
            self = .offset(offset)
        } else {
            return nil
        }
    }
}

/// The option of commands that can resume downloads.
struct ContinuationFlag: ParsableArguments {
    @Option(
        name: [.customShort("C"), .long],
        help: ArgumentHelp(
            """
            Resume the transfer at this offset. With -o, the file must have exactly this size. '-' resumes the last \
            '-C -' download of this URL to this file, or starts over if the server cannot confirm that the content is \
            unchanged.
            """,
            valueName: "offset"
        )
    )
    var continueAt: Continuation?
}

extension Continuation {
    /// Checks that a request can be resumed, before it is sent.
    ///
    /// - Parameter file: The file of `-o`, if there is one.
    func check(_ request: TransferRequest, file: String?) throws {
        let fields = request.head.headerFields
        switch self {
        case _ where request.head.method != .get:
            throw Failure.usage("'--continue-at' requires GET, not \(request.head.method.rawValue)")
        case _ where fields.contains(.range) || fields.contains(.ifRange):
            throw Failure.usage("'--continue-at' cannot be used with a Range header")
        case .rest where file == nil:
            throw Failure.usage("'--continue-at -' requires '-o FILE'")
        case .rest: break
        case .offset(let offset):
            guard offset > 0, let path = file else { break }
            let size = try OpenFile(reading: path).size()
            guard size == offset else {
                throw Failure.usage("\(path) has \(size) bytes, but '--continue-at' is \(offset)")
            }
        }
    }
}

extension Failure {
    fileprivate static func usage(_ message: String) -> Failure {
        Failure(exit: ExitCode.usage, code: "usage", phase: .build, message)
    }
}
