import BeagleNet
import Dispatch
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A `URLSession` with its queue and the transfers of its tasks. Transfers retain it, so it lives until the last one
/// has ended.
final class TransferSession: Sendable {
    /// The serial queue of delegate calls, timers and commands of all transfers.
    let queue = DispatchQueue(label: "BeagleNet.URLSession")
    private let session: URLSession
    private let delegate = SessionDelegate()

    init() {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.urlCredentialStorage = nil
        let operations = OperationQueue()
        operations.maxConcurrentOperationCount = 1
        operations.underlyingQueue = queue
        session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: operations)
    }

    deinit {
        // The session retains its delegate until it is invalidated.
        session.finishTasksAndInvalidate()
    }

    /// Starts a task and sends its events to `transfer`. Call it on `queue`.
    func start(_ request: URLRequest, for transfer: SessionTransfer, priority: Float) -> URLSessionDataTask {
        let task = session.dataTask(with: request)
        task.priority = priority
        delegate.transfers[task.taskIdentifier] = transfer
        task.resume()
        return task
    }

    /// Cancels a task and drops its further events. Call it on `queue`.
    func end(_ task: URLSessionDataTask) {
        delegate.transfers[task.taskIdentifier] = nil
        task.cancel()
    }
}

/// The delegate that passes events to the transfers of its tasks. `@unchecked Sendable` is sound because `transfers` is
/// accessed only on the session's serial queue, which also runs the delegate calls.
private final class SessionDelegate: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    var transfers: [Int: SessionTransfer] = [:]

    /// Delivers the redirect response itself; the transfer decides whether to follow it.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        transfers[task.taskIdentifier]?.reportProgress(of: task)
    }

    /// Delivers the 401 response itself; credentials are in the request's own fields.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        #if canImport(FoundationNetworking)
            // This is called after the body. No disposition delivers the response: the task would fail or never end.
            transfers.removeValue(forKey: task.taskIdentifier)?.conclude(task, nil)
            completionHandler(.cancelAuthenticationChallenge, nil)
        #else
            let isOfHTTP = challenge.failureResponse is HTTPURLResponse
            completionHandler(isOfHTTP ? .rejectProtectionSpace : .performDefaultHandling, nil)
        #endif
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        transfers[dataTask.taskIdentifier]?.take(response)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        transfers[dataTask.taskIdentifier]?.take(data, of: dataTask)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        transfers.removeValue(forKey: task.taskIdentifier)?.conclude(task, error)
    }
}
