// A form with a photo for `beagle serve --port 8080`. The photo is read from disk while it is sent.
import BeagleNet

let base = URL(string: "http://127.0.0.1:8080")
Beagle.dependencies.environment = BeagleEnvironment(name: "demo", baseURL: base)
let client = Beagle.dependencies.networkClient
let path = CommandLine.arguments.dropFirst().first ?? "photo.jpg"

// snippet.photo
let photo = FormFile(path: path, contentType: "image/jpeg")
let form = Form(
    [Form.Input("title", "The sea"), Form.Input("photo", .file(photo), isRequired: true)],
    encoding: .multipart,
    sendsIdempotencyKey: true  // the server recognizes repeats, so the client can retry if the response is lost
)
let reply = try await client.submit(form, to: "/upload") { progress in
    print(progress.bytesSent, "of", progress.bytesToSend ?? 0)
}
// snippet.end
print(reply.content)
