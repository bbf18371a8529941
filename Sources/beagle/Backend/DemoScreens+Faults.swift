/// Screens with planted faults, which `beagle crawl` finds.
extension DemoScreens {
    /// A screen with a fault in almost each component.
    static let faults = """
        {
          "_beagleComponent_": "beagle:screenComponent",
          "identifier": "faults",
          "navigationBar": {"title": "Faults"},
          "child": {
            "_beagleComponent_": "beagle:container",
            "children": [
              {"_beagleComponent_": "beagle:image", "path": {"_beagleImagePath_": "remote", "url": "/faults/missing.png"}},
              {"_beagleComponent_": "beagle:image", "path": {"_beagleImagePath_": "remote", "url": "/faults/text.png"}},
              {"_beagleComponent_": "beagle:image", "path": {"_beagleImagePath_": "remote", "url": "/faults/heavy.png"}},
              {"_beagleComponent_": "beagle:image", "path": {"_beagleImagePath_": "remote", "url": "@{user.photo}"}},
              {
                "_beagleComponent_": "beagle:button",
                "text": "Missing",
                "onPress": [{"_beagleAction_": "beagle:pushView", "route": {"url": "/faults/missing"}}]
              },
              {
                "_beagleComponent_": "beagle:button",
                "text": "Slow",
                "onPress": [{"_beagleAction_": "beagle:pushView", "route": {"url": "/faults/slow?delay=1200"}}]
              },
              {
                "_beagleComponent_": "beagle:button",
                "text": "Malformed",
                "onPress": [{"_beagleAction_": "beagle:pushView", "route": {"url": "/faults/malformed"}}]
              },
              {
                "_beagleComponent_": "beagle:button",
                "text": "With a body",
                "onPress": [
                  {
                    "_beagleAction_": "beagle:pushView",
                    "route": {"url": "/details", "httpAdditionalData": {"method": "GET", "body": {"id": 1}}}
                  }
                ]
              },
              {
                "_beagleComponent_": "beagle:button",
                "text": "Loop",
                "onPress": [{"_beagleAction_": "beagle:pushView", "route": {"url": "/faults/loop"}}]
              },
              {"_beagleComponent_": "custom:banner", "picture": "https://cdn.example.com/banner.png"}
            ]
          }
        }
        """

    /// A screen that leads back to the screen before it.
    static let loop = """
        {
          "_beagleComponent_": "beagle:container",
          "children": [
            {
              "_beagleComponent_": "beagle:button",
              "text": "Faults",
              "onPress": [{"_beagleAction_": "beagle:pushView", "route": {"url": "/faults"}}]
            }
          ]
        }
        """

    /// A screen whose last object isn't closed.
    static let malformed = """
        {
          "_beagleComponent_": "beagle:container",
          "children": [{"_beagleComponent_": "beagle:text", "text": "Hello"]
        }
        """
}
