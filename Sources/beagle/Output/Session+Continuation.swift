import ArgumentParser
import BeagleNet
import BeagleNetHTTP
import Foundation

/// Downloads that resume an earlier one.
extension Session {
    /// Resumes the download that the last run of the same command left, or starts one that can be resumed.
    func resume(_ request: TransferRequest, to path: String, for subject: Subject) async throws -> ReceivedResponse {
        let file = try ResumableFile(path: path, url: request.head.urlText)
        while true {
            var request = request
            for field in file.fields { request.head.headerFields[fields: field.name] = [field] }
            let response = try await start(request, for: subject)
            guard file.accepts(response.response.status) else { return try await take(response, keepsBody: false) }
            switch try file.begin(response.response) {
            case .restart: continue
            case .complete: break
            case .body: try await write(response.body, to: file, path)
            }
            try file.commit()
            return ReceivedResponse(response, in: path, count: Int(file.position), cacheReport(of: response))
        }
    }

    private func write(_ body: HTTPBody, to file: ResumableFile, _ path: String) async throws {
        do {
            try await file.write(contentsOf: body) { _ in }
        } catch {
            let end = file.isKept ? "are kept; resume with -C -" : "are discarded: the server sent no validator"
            console.note("beagle: \(path) is unchanged; the \(byteCount(file.position)) received \(end)")
            throw error
        }
    }

    /// Requests the bytes after an offset, and appends them to the file, whose size is that offset.
    func receive(
        _ request: TransferRequest,
        from offset: Int64,
        for subject: Subject
    ) async throws -> ReceivedResponse {
        var request = request
        request.head.headerFields[.range] = "bytes=\(offset)-"
        request.head.headerFields[.acceptEncoding] = "identity"
        let response = try await start(request, for: subject)
        guard response.response.status.kind == .successful else { return try await take(response, keepsBody: false) }
        guard var part = PartialBody(response.response), part.start == offset, part.total != nil else {
            throw Failure(
                exit: ExitCode.noRanges,
                code: "range",
                phase: .response,
                "the server did not resume at byte \(offset), or did not send the size of the file",
                advice: "leave out --continue-at"
            )
        }
        guard let file else {
            let received = try await take(response, keepsBody: false)
            try part.take(received.count)
            try part.finishRepresentation()
            return received
        }
        let appended = try OpenFile.appendingExclusively(file)
        do {
            for try await chunk in response.body {
                try part.take(chunk.count)
                try chunk.withUnsafeBytes { try appended.write($0) }
            }
            try part.finishRepresentation()
        } catch {
            console.note("beagle: \(file) now has \(part.position) bytes; resume with --continue-at \(part.position)")
            throw error
        }
        return ReceivedResponse(response, in: file, count: Int(part.position - offset), cacheReport(of: response))
    }
}
