#if !canImport(Combine)
    import BeagleNetHTTP
    public import Foundation
    public import FoundationNetworking
    public import OpenCombine

    extension URLSession {
        /// A publisher that delivers the response of a data task, like Combine's type of the same name on Apple
        /// platforms.
        ///
        /// The publisher is cold: each subscriber has its own task, which starts when the subscriber requests a value.
        /// Cancelling the subscription cancels the task. The response is delivered on the session's queue; use
        /// `receive(on:)` to change that.
        public struct DataTaskPublisher: Publisher, Sendable {
            /// The body and head of the response.
            public typealias Output = (data: Data, response: URLResponse)
            /// The error type of the data task.
            public typealias Failure = URLError

            /// The request of the data task.
            public let request: URLRequest
            /// The session that runs the data task.
            public let session: URLSession

            /// Creates a publisher for a data task of the session.
            public init(request: URLRequest, session: URLSession) {
                self.request = request
                self.session = session
            }

            /// Attaches a subscriber, whose task starts when it requests a value.
            public func receive<Downstream: Subscriber>(subscriber: Downstream)
            where Downstream.Input == Output, Downstream.Failure == URLError {
                let subscription = BufferedSubscription(to: subscriber, bufferLimit: 1) {
                    [request, session] subscription in
                    let task = session.dataTask(with: request) { data, response, error in
                        if let response, error == nil {
                            subscription.send((data ?? Data(), response))
                            subscription.finish(.finished)
                        } else {
                            subscription.finish(.failure(error as? URLError ?? URLError(.unknown)))
                        }
                    }
                    task.resume()
                    return task
                }
                subscriber.receive(subscription: subscription)
            }
        }

        /// Returns a publisher that delivers the response of a data task for this URL.
        public func dataTaskPublisher(for url: URL) -> DataTaskPublisher {
            dataTaskPublisher(for: URLRequest(url: url))
        }

        /// Returns a publisher that delivers the response of a data task for this request.
        public func dataTaskPublisher(for request: URLRequest) -> DataTaskPublisher {
            DataTaskPublisher(request: request, session: self)
        }
    }
#endif
