import BeagleNet
import Dispatch
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A `URLSession`, its queue, and which task belongs to which transfer. Transfers hold it, so that it lives until the
/// last has ended.
final class TransferSession: Sendable {
    /// Serial; delegate calls, timers and commands of all transfers run here.
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
        // The session holds the delegate until then.
        session.finishTasksAndInvalidate()
    }

    /// Starts a task whose events go to `transfer`. On `queue`.
    func start(_ request: URLRequest, for transfer: SessionTransfer, priority: Float) -> URLSessionDataTask {
        let task = session.dataTask(with: request)
        task.priority = priority
        delegate.transfers[task.taskIdentifier] = transfer
        task.resume()
        return task
    }

    /// Ends a task, whose events go nowhere from now on. On `queue`.
    func end(_ task: URLSessionDataTask) {
        delegate.transfers[task.taskIdentifier] = nil
        task.cancel()
    }
}

/// `@unchecked Sendable` is sound because `transfers` is touched only on the session's serial queue, on which delegate
/// calls come, too.
private final class SessionDelegate: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    var transfers: [Int: SessionTransfer] = [:]

    /// Hands the redirect itself over: the transfer decides where it leads.
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

    /// Hands a 401 over: credentials are in the message's own fields.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        #if canImport(FoundationNetworking)
            // It comes behind the body. No disposition hands the response over: the task would fail, or never end.
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
