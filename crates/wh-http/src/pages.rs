//! The few HTML pages there are without the dashboard. Nothing in them runs, and nothing is fetched from elsewhere.

use axum::response::{Html, IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};

/// The page in place of a dashboard that was not built.
pub(crate) fn without_dashboard() -> Html<String> {
    let version = env!("CARGO_PKG_VERSION");
    page(
        "Wheelhouse",
        &format!(
            "<p>This is Wheelhouse {version}: it runs coding agents and lets people and agents direct them.</p>\n\
             <p>The dashboard is not built into this program: <code>cargo xtask web build</code>, which needs Node, builds it, and \
             <code>cargo xtask up</code> builds both. Without it:</p>\n\
             <ul>\n\
             <li><a href=\"/openapi.json\">/openapi.json</a> describes the REST interface at /api/v1</li>\n\
             <li>/mcp is where MCP clients connect; <code>wheelhouse mcp install</code> sets one up</li>\n\
             <li><code>wheelhouse --help</code> lists what the command line can do</li>\n\
             </ul>"
        ),
    )
}

/// A page that says why something did not work.
pub(crate) fn problem(status: StatusCode, message: &str, hint: Option<&str>) -> Response {
    let hint = hint.map_or(String::new(), |hint| format!("\n<p>{}</p>", escape(hint)));
    let body = format!("<p>{}</p>{hint}", escape(message));
    let no_store = HeaderValue::from_static("no-store");
    let page = page("Wheelhouse", &body);
    (status, [(header::CACHE_CONTROL, no_store)], page).into_response()
}

fn page(title: &str, body: &str) -> Html<String> {
    let title = escape(title);
    Html(format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n</head>\n\
         <body>\n<h1>{title}</h1>\n{body}\n</body>\n</html>\n"
    ))
}

/// Makes text inert, in elements and in quoted attributes.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_dashboard_the_page_says_how_to_get_it() {
        let Html(page) = without_dashboard();
        for wanted in [
            "Wheelhouse",
            "/openapi.json",
            "/mcp",
            "cargo xtask web build",
        ] {
            assert!(page.contains(wanted), "{wanted}");
        }
    }

    #[test]
    fn markup_becomes_text() {
        assert_eq!(
            escape("<a href='x' title=\"y\">&"),
            "&lt;a href=&#39;x&#39; title=&quot;y&quot;&gt;&amp;"
        );
    }
}
