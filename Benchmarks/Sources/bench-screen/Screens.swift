import Foundation

/// The screens that are measured.
enum Screens: String, CaseIterable {
    /// The home screen of the demo backend, repeated to 1 MB.
    case dense
    /// The same without whitespace and with members in any order, so that the types are read before the walk.
    case unordered
    /// 1 MB of texts with 2,000 characters each.
    case texts
    /// 100 KB with 50 images.
    case images

    func document() throws -> Data {
        switch self {
        case .dense: return Self.container(Array(repeating: Self.home, count: (1 << 20) / Self.home.utf8.count + 1))
        case .unordered:
            let home = try JSONSerialization.jsonObject(with: Data(Self.home.utf8))
            let text = String(decoding: try JSONSerialization.data(withJSONObject: home), as: UTF8.self)
            return Self.container(Array(repeating: text, count: (1 << 20) / text.utf8.count + 1))
        case .texts: return Self.container(Array(repeating: Self.text(2_000), count: 500))
        case .images:
            return Self.container((0..<50).flatMap { [Self.image($0), Self.text(1_850)] })
        }
    }

    private static func container(_ children: [String]) -> Data {
        let list = children.joined(separator: ",\n")
        return Data(#"{"_beagleComponent_": "beagle:container", "children": [\#(list)]}"#.utf8)
    }

    private static func text(_ count: Int) -> String {
        let words = String(repeating: "The terms of the offer, in words and in numbers. ", count: count / 49 + 1)
        return #"{"_beagleComponent_": "beagle:text", "text": "\#(words.prefix(count))"}"#
    }

    private static func image(_ number: Int) -> String {
        let path = #"{"_beagleImagePath_": "remote", "url": "https://img.example.com/products/\#(number).png"}"#
        return #"{"_beagleComponent_": "beagle:image", "path": \#(path)}"#
    }

    /// The screen that `beagle serve` responds with at `/home`.
    static let home = """
        {
          "_beagleComponent_": "beagle:screenComponent",
          "identifier": "home",
          "navigationBar": {
            "title": "Home",
            "showBackButton": false,
            "navigationBarItems": [
              {
                "text": "Help",
                "onPress": [{"_beagleAction_": "beagle:openExternalURL", "url": "https://usebeagle.io"}]
              }
            ]
          },
          "child": {
            "_beagleComponent_": "beagle:container",
            "context": {"id": "user", "value": {"name": "Ana"}},
            "style": {"flex": {"flexDirection": "COLUMN"}, "padding": {"all": {"type": "REAL", "value": 16}}},
            "children": [
              {
                "_beagleComponent_": "beagle:image",
                "path": {"_beagleImagePath_": "remote", "url": "/img/banner.png"}
              },
              {"_beagleComponent_": "beagle:text", "text": "Hello, @{user.name}"},
              {
                "_beagleComponent_": "beagle:button",
                "text": "Details",
                "onPress": [
                  {
                    "_beagleAction_": "beagle:pushView",
                    "route": {"url": "/details", "shouldPrefetch": true}
                  }
                ]
              },
              {
                "_beagleComponent_": "beagle:button",
                "text": "Sign up",
                "onPress": [{"_beagleAction_": "beagle:pushView", "route": {"url": "/signup"}}]
              },
              {
                "_beagleComponent_": "beagle:lazyComponent",
                "path": "/lazy/news",
                "initialState": {"_beagleComponent_": "beagle:text", "text": "Loading the news"}
              },
              {"_beagleComponent_": "custom:chart", "title": "Visits", "points": [3, 1, 4, 1, 5, 9]},
              {
                "_beagleComponent_": "beagle:simpleForm",
                "onSubmit": [
                  {
                    "_beagleAction_": "beagle:sendRequest",
                    "url": "/signup",
                    "method": "POST",
                    "data": {"name": "@{user.name}", "email": "@{user.email}"},
                    "onSuccess": [{"_beagleAction_": "beagle:alert", "message": "Welcome"}]
                  }
                ],
                "children": [
                  {"_beagleComponent_": "beagle:textInput", "placeholder": "E-mail", "type": "EMAIL"},
                  {
                    "_beagleComponent_": "beagle:button",
                    "text": "Send",
                    "onPress": [{"_beagleAction_": "beagle:submitForm"}]
                  }
                ]
              }
            ]
          }
        }
        """
}
