// A sign-up form for `beagle serve --port 8080`: validated by the app and then by the server, and stored as a draft until
// it is accepted.
import BeagleNet

let base = URL(string: "http://127.0.0.1:8080")
Beagle.dependencies.environment = BeagleEnvironment(name: "demo", baseURL: base)
let client = Beagle.dependencies.networkClient

// snippet.form
let form = Form(
    [
        Form.Input("name", isRequired: true),
        Form.Input("email", isRequired: true, validators: [.email]),
        Form.Input("password", isRequired: true, validators: [.length(atLeast: 8)]),
        Form.Input("newsletter", false),
    ],
    group: "sign-up"
)
form["name"] = "Ada"
form["email"] = "ada@example.com"
form["password"] = "correct horse"

let reply = try await client.submit(form, to: "/signup")
switch reply.content {
case .action(let action): print("do", action)
case .refused(let errors): for error in errors { print(error.field ?? "the form", error.message) }
case .json, .empty, .other: print("welcome")
}
// snippet.end

func show(_ state: String) { print(state) }

// snippet.states
let submission = client.submission(of: form, to: "/signup")
for await state in submission.states {
    switch state {
    case .started: show("spinner")
    case .finished: show("no spinner")
    case .success: show("welcome")
    case .error(.refused(let reply)): show("\(reply.errors)")
    case .error(.network(let error)): show(submission.canRetry ? "try again: \(error)" : "\(error)")
    }
    // The sequence ends after a success. A screen would call `submission.retry()` from a button.
    if case .error = state { break }
}
// snippet.end
