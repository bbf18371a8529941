package import BeagleNetHTTP

/// A decoder for the content encodings of a body (RFC 9110, 8.4), which decodes piece by piece.
///
/// libcurl's own decoding is off: it accepts truncated bodies, fails on unknown encodings and doesn't count decoded
/// bytes.
package final class ContentDecoder {
    /// The maximum number of layers; more are an attack, not an encoding.
    private static let maxLayers = 4

    private let last: Stage

    /// The encodings in our `Accept-Encoding`: always gzip and deflate, also brotli and zstd if their libraries are
    /// installed.
    static let accepted: String = {
        var names = ["gzip", "deflate"]
        if Brotli.library != nil { names.append("br") }
        if Zstandard.library != nil { names.append("zstd") }
        return names.joined(separator: ", ")
    }()

    /// Creates the decoder for these encodings, or returns `nil` if the list is empty or one is unknown.
    ///
    /// The body is then delivered undecoded.
    package init?(contentEncoding: String) throws(NetworkError) {
        var layers: [any DecodingLayer] = []
        for token in contentEncoding.split(separator: ",") {
            let name = token.filter { $0 != " " && $0 != "\t" }.lowercased()
            if name.isEmpty || name == "identity" { continue }
            guard layers.count < Self.maxLayers else {
                throw .encoding("the body has more than \(Self.maxLayers) content encodings")
            }
            guard let layer = try Self.layer(name) else { return nil }
            layers.append(layer)
        }
        guard let outermost = layers.popLast() else { return nil }
        last = layers.reversed().reduce(Stage(outermost)) { Stage($1, after: $0) }
    }

    private static func layer(_ name: String) throws(NetworkError) -> (any DecodingLayer)? {
        switch name {
        case "gzip", "x-gzip": Inflate(.gzip)
        case "deflate": Inflate(.deflate)
        case "br": try Brotli()
        case "zstd": try Zstandard()
        default: nil
        }
    }

    /// Decodes the next piece, which is at most 64 KiB and valid until the next call.
    ///
    /// The piece is empty when all of `input` has been used and there is no more output.
    ///
    /// - Parameter input: The encoded bytes; used bytes are removed from the front.
    package func decode(_ input: inout UnsafeRawBufferPointer) throws(NetworkError) -> UnsafeRawBufferPointer {
        try last.fill(from: &input)
        defer { last.output = .none }
        return last.output
    }

    /// Checks that every layer is complete.
    ///
    /// An empty body counts as complete because a 204 has no content to encode.
    package func finish() throws(NetworkError) {
        var stage: Stage? = last
        while let layer = stage?.layer {
            if layer.isBegun && !layer.isEnded { throw .encoding("the encoded body is truncated") }
            stage = stage?.source
        }
    }

    /// One encoding layer and its pending output.
    private final class Stage {
        let layer: any DecodingLayer
        let source: Stage?
        private let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 1)
        /// Output in `room` that hasn't been read yet.
        var output = UnsafeRawBufferPointer.none

        init(_ layer: any DecodingLayer, after source: Stage? = nil) {
            self.layer = layer
            self.source = source
        }

        deinit {
            room.deallocate()
        }

        /// Decodes until there is output or all input has been used.
        func fill(from input: inout UnsafeRawBufferPointer) throws(NetworkError) {
            guard let source else {
                return take(try layer.decode(&input, into: room))
            }
            repeat {
                if source.output.isEmpty { try source.fill(from: &input) }
                let isStarved = source.output.isEmpty
                take(try layer.decode(&source.output, into: room))
                if isStarved { return }
            } while output.isEmpty
        }

        private func take(_ count: Int) {
            output = UnsafeRawBufferPointer(rebasing: room[..<count])
        }
    }
}

/// A decoder for one content encoding.
protocol DecodingLayer: AnyObject {
    /// Whether any bytes have been received.
    var isBegun: Bool { get }
    /// Whether the encoded data is complete.
    var isEnded: Bool { get }
    /// Decodes as much as fits into `room` and returns the number of decoded bytes. The result is 0 only if all of
    /// `input` has been used and no output is pending.
    ///
    /// - Parameter input: The encoded bytes; used bytes are removed from the front.
    func decode(
        _ input: inout UnsafeRawBufferPointer,
        into room: UnsafeMutableRawBufferPointer
    ) throws(NetworkError) -> Int
}

extension UnsafeRawBufferPointer {
    static var none: UnsafeRawBufferPointer { .init(start: nil, count: 0) }

    /// Drops all but the last `count` bytes.
    mutating func keepLast(_ count: Int) {
        self = UnsafeRawBufferPointer(rebasing: suffix(count))
    }
}

extension NetworkError {
    static func encoding(_ message: String) -> NetworkError {
        NetworkError(.encoding, during: .body, message)
    }

    static var trailingData: NetworkError { .encoding("the encoded body is followed by extra bytes") }
}
