#if !canImport(Combine)
    import BeagleNetHTTP
    public import Foundation
    public import FoundationNetworking
    public import OpenCombine

    extension URLSession {
        /// Gives what a data task answers, as Combine's of the same name does where there is Combine. Cold: the task begins
        /// when somebody wants its answer, and each subscriber has one of its own. Cancelling cancels it.
        ///
        /// The answer comes on the session's queue: say where it is wanted with `receive(on:)`.
        public struct DataTaskPublisher: Publisher, Sendable {
            /// Body and head.
            public typealias Output = (data: Data, response: URLResponse)
            /// Why there is none.
            public typealias Failure = URLError

            /// What is asked.
            public let request: URLRequest
            /// Whom.
            public let session: URLSession

            /// A publisher of what the session's data task answers.
            public init(request: URLRequest, session: URLSession) {
                self.request = request
                self.session = session
            }

            /// Connects a subscriber, whose task begins when it wants a value.
            public func receive<Downstream: Subscriber>(subscriber: Downstream)
            where Downstream.Input == Output, Downstream.Failure == URLError {
                let outlet = Outlet(to: subscriber, keeping: 1) { [request, session] outlet in
                    let task = session.dataTask(with: request) { data, response, error in
                        if let response, error == nil {
                            outlet.send((data ?? Data(), response))
                            outlet.finish(.finished)
                        } else {
                            outlet.finish(.failure(error as? URLError ?? URLError(.unknown)))
                        }
                    }
                    task.resume()
                    return task
                }
                subscriber.receive(subscription: outlet)
            }
        }

        /// A publisher of what a data task for this URL answers.
        public func dataTaskPublisher(for url: URL) -> DataTaskPublisher {
            dataTaskPublisher(for: URLRequest(url: url))
        }

        /// A publisher of what a data task for this request answers.
        public func dataTaskPublisher(for request: URLRequest) -> DataTaskPublisher {
            DataTaskPublisher(request: request, session: self)
        }
    }
#endif
