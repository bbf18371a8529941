/// The server-driven screens of the demo backend, as Beagle's JSON.
enum DemoScreens {
    /// The response of `/`: a list of the routes, which is JSON but not a screen.
    static let index = """
        {
          "name": "BeagleNet demo backend",
          "routes": ["/home", "/details", "/signup", "/feedback", "/upload", "/lazy/news",
                     "/img/banner.png", "/img/logo.png", "/cached", "/varied", "/file",
                     "/graphql", "/events", "/echo", "/ws", "/redirect", "/slow", "/fail",
                     "/faults"]
        }
        """

    /// A screen with one text.
    static func greeting(_ text: String) -> String {
        """
        {"_beagleComponent_": "beagle:text", "text": "\(text)"}
        """
    }

    /// A screen with images, an expression, navigation with prefetch, a lazy component, a custom component and a form.
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

    /// The screen that the home screen's button prefetches.
    static let details = """
        {
          "_beagleComponent_": "beagle:screenComponent",
          "identifier": "details",
          "navigationBar": {"title": "Details"},
          "child": {
            "_beagleComponent_": "beagle:scrollView",
            "children": [
              {"_beagleComponent_": "beagle:image", "path": {"_beagleImagePath_": "remote", "url": "/img/logo.png"}},
              {"_beagleComponent_": "beagle:text", "text": "This screen was prefetched"},
              {
                "_beagleComponent_": "beagle:button",
                "text": "Back",
                "onPress": [{"_beagleAction_": "beagle:popView"}]
              }
            ]
          }
        }
        """

    /// The screen with a form that is posted to `/signup`.
    static let signup = """
        {
          "_beagleComponent_": "beagle:screenComponent",
          "identifier": "signup",
          "navigationBar": {"title": "Sign up"},
          "child": {
            "_beagleComponent_": "beagle:form",
            "onSubmit": [{"_beagleAction_": "beagle:formRemoteAction", "path": "/signup", "method": "POST"}],
            "child": {
              "_beagleComponent_": "beagle:container",
              "children": [
                {
                  "_beagleComponent_": "beagle:formInput",
                  "name": "name",
                  "child": {"_beagleComponent_": "beagle:textInput", "placeholder": "Name"}
                },
                {
                  "_beagleComponent_": "beagle:formInput",
                  "name": "email",
                  "child": {"_beagleComponent_": "beagle:textInput", "placeholder": "E-mail"}
                },
                {
                  "_beagleComponent_": "beagle:formSubmit",
                  "child": {"_beagleComponent_": "beagle:text", "text": "Send"}
                }
              ]
            }
          }
        }
        """

    /// The component that the home screen loads lazily.
    static let news = """
        {
          "_beagleComponent_": "beagle:container",
          "children": [
            {"_beagleComponent_": "beagle:text", "text": "No news is good news"},
            {"_beagleComponent_": "beagle:image", "path": {"_beagleImagePath_": "remote", "url": "/img/logo.png"}}
          ]
        }
        """
}
