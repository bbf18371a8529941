import ArgumentParser
import BeagleNet
import BeagleNetHTTP
import Foundation

/// Downloads that go on where an earlier one stopped.
extension Session {
    /// Goes on with the download that the last run of the same command left, or begins one that can be gone on with.
    func resume(_ request: TransferRequest, to path: String, asking subject: Subject) async throws -> ReceivedResponse {
        let file = try ResumableFile(path: path, url: request.head.urlText)
        while true {
            var request = request
            for field in file.fields { request.head.headerFields[fields: field.name] = [field] }
            let response = try await begin(request, asking: subject)
            guard file.takes(response.response.status) else { return try await take(response, keepsBody: false) }
            switch try file.begin(response.response) {
            case .again: continue
            case .complete: break
            case .body: try await write(response.body, to: file, path)
            }
            try file.commit()
            return ReceivedResponse(response, in: path, count: Int(file.position))
        }
    }

    private func write(_ body: HTTPBody, to file: ResumableFile, _ path: String) async throws {
        do {
            try await file.write(contentsOf: body) { _ in }
        } catch {
            let end = file.isKept ? "are kept: -C - goes on with them" : "are removed: the server gave no validator"
            console.note("beagle: \(path) is as it was; the \(byteCount(file.position)) received \(end)")
            throw error
        }
    }

    /// Asks for what stands behind an offset, and puts it behind the file, which is that long.
    func receive(
        _ request: TransferRequest,
        from offset: Int64,
        asking subject: Subject
    ) async throws -> ReceivedResponse {
        var request = request
        request.head.headerFields[.range] = "bytes=\(offset)-"
        request.head.headerFields[.acceptEncoding] = "identity"
        let response = try await begin(request, asking: subject)
        guard response.response.status.kind == .successful else { return try await take(response, keepsBody: false) }
        let range = response.response.headerFields[single: .contentRange].flatMap { ContentRange($0) }
        guard response.response.status == .partialContent, range?.bytes?.lowerBound == offset else {
            throw Failure(
                exit: ExitCode.noRanges,
                code: "range",
                phase: .response,
                "the server does not go on at byte \(offset)",
                advice: "leave --continue-at out"
            )
        }
        guard let path = flags.file else { return try await take(response, keepsBody: false) }
        let file = try OpenFile.appendingAlone(path)
        var count = offset
        do {
            for try await chunk in response.body {
                try chunk.withUnsafeBytes { try file.write($0) }
                count += Int64(chunk.count)
            }
        } catch {
            console.note("beagle: \(path) has \(count) bytes now: go on with --continue-at \(count)")
            throw error
        }
        return ReceivedResponse(response, in: path, count: Int(count - offset))
    }
}
