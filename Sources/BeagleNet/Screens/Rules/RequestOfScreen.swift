import BeagleNetHTTP

/// A request as a screen asks for it, with the positions of its parts as JSON pointers.
struct RequestOfScreen {
    struct Pointers {
        let url: String
        let method: String
        let headers: String

        init(url: String, method: String, headers: String) {
            (self.url, self.method, self.headers) = (url, method, headers)
        }

        /// The position of the URL stands for all parts.
        init(_ url: String) { self.init(url: url, method: url, headers: url) }
    }

    let url: URL
    let method: String
    let headers: [String: String]
    let isImage: Bool
    let pointers: Pointers

    init(_ url: URL, _ method: String, _ headers: [String: String], isImage: Bool = false, at pointers: Pointers) {
        (self.url, self.method, self.headers) = (url, method, headers)
        (self.isImage, self.pointers) = (isImage, pointers)
    }

    init(_ reference: ScreenPlan.Reference, to url: URL) {
        let isImage = reference.kind == .image
        self.init(
            url,
            reference.method,
            isImage ? [:] : reference.headerFields,
            isImage: isImage,
            at: Pointers(reference.pointer)
        )
    }
}
