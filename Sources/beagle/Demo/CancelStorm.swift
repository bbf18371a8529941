import BeagleNet
import Dispatch
import Foundation

/// Sends many requests and cancels each at a random moment, from before it starts to after its response.
enum CancelStorm {
    /// The outcomes of the requests.
    struct Outcomes {
        /// The number of completion calls of each request.
        var completions: [Int]
        var answered = 0
        var cancelled = 0
        var failed = 0

        mutating func count(_ result: Result<NetworkResponse, NetworkError>, of index: Int) {
            completions[index] += 1
            switch result {
            case .success: answered += 1
            case .failure(let error) where error.isCancelled: cancelled += 1
            case .failure: failed += 1
            }
        }
    }

    /// The number of concurrent requests, low enough for the backend to answer some before they are cancelled.
    private static let width = 8

    /// Runs `count` requests, or fewer if the task is cancelled, and returns when all have completed.
    static func run(_ count: Int, of url: URL, with client: any NetworkClient) async -> Outcomes {
        let outcomes = Lock(Outcomes(completions: Array(repeating: 0, count: count)))
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<count where !Task.isCancelled {
                if index >= width { await group.next() }
                group.addTask { await request(index, of: url, with: client, into: outcomes) }
            }
        }
        return outcomes.withLock { $0 }
    }

    private static func request(
        _ index: Int,
        of url: URL,
        with client: any NetworkClient,
        into outcomes: Lock<Outcomes>
    ) async {
        let completion = Promise<Void>()
        let token = client.executeRequest(Request(url: url, type: .fetchComponent)) { result in
            outcomes.withLock { $0.count(result, of: index) }
            completion.complete()
        }
        let delay = Int.random(in: 0...2_000)
        DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(delay)) { token?.cancel() }
        await completion.value
    }
}
