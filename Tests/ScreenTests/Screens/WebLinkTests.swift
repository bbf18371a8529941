import BeagleNet
import Testing

@testable import BeagleNetHTTP

@Suite struct WebLinkTests {
    private static let links: [(field: String, images: [String])] = [
        ("</a.png>; rel=preload; as=image", ["/a.png"]), ("</a>;rel=\"preload\";as=\"image\"", ["/a"]),
        // Several links and relations, empty elements, names and values in any case.
        ("</a>; rel=preload; as=image, </b>; REL=\"next PreLoad\"; As=IMAGE", ["/a", "/b"]),
        (" , </a> ; rel = preload ;; as = image,, </b>;as=image;rel=preload,", ["/a", "/b"]),
        // Delimiters in quotes and in a URL.
        ("</a,b;c>; title=\"x, </y>; \\\"\"; rel=preload; as=image", ["/a,b;c"]),
        // Parameters without a value or quotes, and a repeated one.
        ("</a>; rel=preload; as=image; nopush; type=image/png, </b>; rel=preload; as=image", ["/a", "/b"]),
        ("</a>; rel=next; rel=preload; as=image", []), ("</a>; rel=preload; as=script; as=image", []),
        // Other relations, contexts and media.
        ("</a>; rel=preloads; as=image", []), ("</a>; rel=preload", []), ("</a>; as=image", []),
        ("</a>; rel=preload; as=image; anchor=\"/b\"", []), ("</a>; rel=preload; as=image; media=print", []),
        // A malformed link ends the list.
        ("</a>; rel=preload; as=image, /b; rel=preload; as=image, </c>; rel=preload; as=image", ["/a"]),
        ("</a; rel=preload; as=image", []), ("</a>; rel=\"preload; as=image", []), ("", []), ("<", []),
        ("</a> rel=preload; as=image", []), ("<>; rel=preload; as=image", [""]),
    ]

    @Test(arguments: links) func fieldIsParsed(_ example: (field: String, images: [String])) {
        #expect(WebLink.parsing(example.field).filter(\.isImagePreload).map(\.target) == example.images)
    }

    @Test func everyPrefixIsParsed() {
        for (field, _) in Self.links {
            for count in 0...field.utf8.count {
                #expect(WebLink.parsing(String(decoding: field.utf8.prefix(count), as: UTF8.self)).count <= 3)
            }
        }
    }
}
