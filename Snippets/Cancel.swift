// A request with a completion, which is called exactly once, and a token that cancels it.
import BeagleNet

let url = URL(string: "https://example.com/large")!

// snippet.cancel
let token = Beagle.dependencies.networkClient.executeRequest(Request(url: url, type: .fetchComponent)) { result in
    switch result {
    case .success(let response): print(response.data.count, "bytes")
    case .failure(let error) where error.isCancelled: print("cancelled")
    case .failure(let error): print(error)
    }
}
token?.cancel()
// snippet.end
