// Fetches a screen and an image from `beagle serve --port 8080`, and submits a form.
// snippet.fetch
import BeagleNet

let base = URL(string: "http://127.0.0.1:8080")
Beagle.dependencies.environment = BeagleEnvironment(name: "demo", baseURL: base)
let client = Beagle.dependencies.networkClient

let screen = try await client.fetch("/home", as: JSONValue.self)
let image = try await client.image("/img/logo.png")
let form = Request.FormData(method: .post, values: ["name": "Ada", "email": "ada@example.com"])
let reply = try await client.submit(form, to: "/signup")
// snippet.end
print(screen["_beagleComponent_"] ?? "no screen", image.data.count, reply.isAccepted)
