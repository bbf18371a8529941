// A raw request with a method, headers, a body and time limits, and its errors.
import BeagleNet

let client = Beagle.dependencies.networkClient

// snippet.raw
var request = Request(
    url: URL(string: "https://example.com/api/notes")!,
    type: .rawRequest(.init(method: "POST", headers: ["X-Trace": "7"], body: .json(["text": "Buy milk"])))
)
request.options = TransferOptions(timeouts: TransferOptions.Timeouts(connect: .seconds(5), total: .seconds(20)))

do {
    let response = try await client.executeRequest(request)
    print(response.response.status, try response.json())
} catch let error where error.isOffline {
    print("no connection; try again later")
} catch {
    print(error)  // the failure, its phase and advice, without secrets
}
// snippet.end
