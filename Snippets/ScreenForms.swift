// A form and the actions of a server-driven screen.
import BeagleNet

let client = Beagle.dependencies.networkClient
let screen = try await client.fetch("/sign-up", as: JSONValue.self)

// snippet.form
let context = ScreenContext(["user": ["id": 7]])
let forms = try ScreenForm.forms(in: screen, context: context)
if let signUp = forms.first {
    signUp.form["name"] = "Ada"
    let reply = try await client.submit(signUp.form, to: signUp.target, headers: signUp.headers)
    if case .action(let json) = reply.content, let next = ScreenAction(json) { try await run(next, context) }
}
// snippet.end

func perform(_ action: ScreenAction) { print("navigate, alert or change a context:", action.type) }

// snippet.action
func run(_ action: ScreenAction, _ context: ScreenContext) async throws {
    guard let request = try action.request(in: context) else { return perform(action) }
    let result: NetworkClient.NetworkResult
    do throws(NetworkError) {
        result = .success(try await client.executeRequest(request))
    } catch {
        result = .failure(error)
    }
    for next in action.actions(after: result) { try await run(next, context.after(result)) }
}
// snippet.end
