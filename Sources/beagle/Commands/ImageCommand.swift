import ArgumentParser
import BeagleNet
import BeagleNetHTTP
import BeagleNetRequestBuilder
import Foundation

/// The `beagle image` command, which fetches an image.
struct ImageCommand: TransferCommand {
    static let configuration = CommandConfiguration(
        commandName: "image",
        abstract: "Fetch an image.",
        discussion: """
            Writes the image to the -o file when it is complete; the file is unchanged if the transfer fails or the \
            status is not 2xx. Prints the format, width, height and size in bytes of the image. If the response does \
            not begin with the signature of an image format, the command exits with 101 and writes nothing.

            If the image declares an orientation, the width and height are those of the shown image, followed by the \
            coded ones if they differ. In the output of --json, 'width' and 'height' are the coded ones.

            EXAMPLE
              beagle image http://127.0.0.1:8080/img/banner.png -o banner.png
            """
    )

    @OptionGroup var address: Address

    @Option(
        name: .long,
        help: ArgumentHelp("Maximum number of pixels (width times height).", valueName: "number")
    )
    var maxPixels = 100_000_000

    @OptionGroup var continuationFlag: ContinuationFlag
    @OptionGroup var retries: RetryFlags
    @OptionGroup(title: "CACHE OPTIONS") var cache: CacheFlags
    @OptionGroup var response: ResponseFlags
    @OptionGroup var flags: CommonFlags

    var kind: NetworkOperation.Kind { .image }
    var continuation: Continuation? { continuationFlag.continueAt }
    var interceptors: [any Interceptor] { [ImageInterceptor(maxPixels: maxPixels)] + retries.interceptors }

    func validate() throws {
        if response.output == nil && !response.preview.offline {
            throw ValidationError("Specify the output with '-o FILE', or '-o -' for standard output.")
        }
        if maxPixels < 0 { throw ValidationError("'--max-pixels' must be 0 or greater.") }
    }

    func request() throws -> TransferRequest {
        try address.build(.fetchImage)
    }

    func receive(_ request: TransferRequest, in session: Session) async throws -> ReceivedResponse {
        var received = try await session.receive(
            request,
            keepsBody: keepsBody,
            from: continuation,
            for: .init(kind: kind)
        )
        received.imageHead = session.imageHead.withLock { $0 }
        return received
    }

    func result(of received: ReceivedResponse, on console: Console) throws -> CommandResult {
        let status = received.head.status
        if status == .notModified {
            return CommandResult(json: received.json, output: received.output, note: received.head.statusLine)
        }
        guard status.kind == .successful || received.file != nil else {
            throw Failure.notAnImage(received.head.statusLine, received.head, url: received.url)
        }
        let image = received.image
        let format = ImageHeader.Format(of: image)
        let type = received.contentType.isEmpty ? "no content type" : received.contentType.printable
        var words = [format?.rawValue ?? type]
        guard case .object(var json) = received.json else { return CommandResult(json: received.json) }
        json["format"] = format.map { .string($0.rawValue) }
        if let header = ImageHeader(of: image) {
            words.append(header.sides)
            json["width"] = .integer(Int64(header.width))
            json["height"] = .integer(Int64(header.height))
            json["orientation"] = .integer(Int64(header.orientation.rawValue))
            json["displayWidth"] = .integer(Int64(header.displayWidth))
            json["displayHeight"] = .integer(Int64(header.displayHeight))
        }
        words.append(byteCount(Int64(received.count)))
        var note = words.joined(separator: ", ")
        if let file = received.file { note += " → \(file)" }
        if !received.contentType.lowercased().hasPrefix("image/") { note += " (Content-Type is not an image)" }
        return CommandResult(json: .object(json), output: received.output, note: note)
    }
}

extension ReceivedResponse {
    /// The image, or its beginning if its file is large, or a device or pipe.
    fileprivate var image: Data {
        guard let file else { return body.isEmpty ? imageHead ?? Data() : body }
        // The orientation of a WebP is at the end. A device or pipe can't be read again.
        do throws(NetworkError) {
            let written = try OpenFile(reading: file).beginning(64 << 20)
            if let imageHead, !written.starts(with: imageHead) { return imageHead }
            return written
        } catch {
            return imageHead ?? Data()
        }
    }
}

extension ImageHeader {
    /// The sides of the shown image, and the coded ones if they differ.
    fileprivate var sides: String {
        let shown = "\(displayWidth) x \(displayHeight) pixels"
        return displayWidth == width ? shown : "\(shown) (coded \(width) x \(height))"
    }
}
