import BeagleNetHTTP

/// The segments of a multipart body: bytes, and files that are read when they are reached.
struct MultipartSegments: Sendable {
    enum Segment: Sendable {
        case bytes(Data)
        case file(path: String, size: Int64)

        var length: Int64 {
            switch self {
            case .bytes(let data): Int64(data.count)
            case .file(_, let size): size
            }
        }
    }

    private let segments: [Segment]

    init(_ segments: [Segment]) {
        self.segments = segments
    }

    /// The body: in memory if the only segment is bytes, otherwise a stream that can be read repeatedly.
    var body: HTTPBody {
        if segments.count == 1, case .bytes(let data) = segments[0] { return HTTPBody(data) }
        let length = segments.reduce(0) { $0 + $1.length }
        return HTTPBody(
            .stream(length: length, isReplayable: true) {
                let reader = Reader(segments)
                return { try reader.next() }
            }
        )
    }

    private final class Reader: Sendable {
        private struct State {
            var segments: ArraySlice<Segment>
            var file: FileReader?
            /// The number of bytes of `file` still to be read.
            var rest: Int64 = 0
        }

        private let state: Lock<State>

        init(_ segments: [Segment]) {
            state = Lock(State(segments: segments[...]))
        }

        func next() throws(NetworkError) -> Data? {
            try state.withLock { state throws(NetworkError) -> Data? in
                while let segment = state.segments.first {
                    switch segment {
                    case .bytes(let data):
                        state.segments.removeFirst()
                        if !data.isEmpty { return data }
                    case .file(let path, let size):
                        if let piece = try Self.piece(of: path, size, &state) { return piece }
                        state.segments.removeFirst()
                        state.file = nil
                    }
                }
                return nil
            }
        }

        /// Returns the next piece of a file, up to its announced size, even if the file has grown since.
        ///
        /// The following parts must keep their offsets.
        private static func piece(of path: String, _ size: Int64, _ state: inout State) throws(NetworkError) -> Data? {
            if state.file == nil { state.rest = size }
            if state.rest == 0 { return nil }
            let file = state.file ?? FileReader(path: path)
            state.file = file
            guard let piece = try file.next()?.prefix(Int(min(state.rest, .max))) else {
                throw NetworkError(.file, during: .send, "\(path) shrank while it was being sent")
            }
            state.rest -= Int64(piece.count)
            return piece
        }
    }
}
