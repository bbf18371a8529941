import Foundation
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Reads bodies without keeping them.
final class ByteCounter: NSObject, URLSessionDataDelegate, Sendable {
    private struct Download {
        let continuation: CheckedContinuation<Int, any Error>
        var bytes = 0
    }

    private let downloads = Mutex<[Int: Download]>([:])

    func count(_ url: URL, in session: URLSession) async throws -> Int {
        try await withCheckedThrowingContinuation { continuation in
            let task = session.dataTask(with: url)
            downloads.withLock { $0[task.taskIdentifier] = Download(continuation: continuation) }
            task.resume()
        }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        downloads.withLock { $0[dataTask.taskIdentifier]?.bytes += data.count }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let download = downloads.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else { return }
        if let error {
            download.continuation.resume(throwing: error)
        } else {
            download.continuation.resume(returning: download.bytes)
        }
    }
}
