// A form with a photo, sent to `beagle serve --port 8080` as it is read from the disk.
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
    sendsIdempotencyKey: true  // the server knows a form that it has seen, so a lost answer is asked for again
)
let reply = try await client.submit(form, to: "/upload") { progress in
    print(progress.bytesSent, "of", progress.bytesToSend ?? 0)
}
// snippet.end
print(reply.content)
