//! What a person sees when the server is ready.

use wh_api::ServerFile;
use wh_app::LoginLink;

use super::ServeOptions;

/// Says where everything is, and what to do first.
pub(super) fn banner(about: &ServerFile, link: &LoginLink, options: &ServeOptions) -> String {
    let ServerFile {
        url,
        mcp_url,
        version,
        ..
    } = about;
    let token = link.token.expose();
    let data_dir = options.data_dir.display();
    format!(
        "\
Wheelhouse {version} is ready.

  Dashboard   {url}/login?token={token}   (works once, for 15 minutes)
  MCP         {mcp_url}
  REST        {url}/openapi.json
  Data        {data_dir}

Connect an MCP client with a key of its own:

  wheelhouse key create --scope full --name my-client

  {{
    \"mcpServers\": {{
      \"wheelhouse\": {{
        \"type\": \"http\",
        \"url\": \"{mcp_url}\",
        \"headers\": {{ \"Authorization\": \"Bearer wh_full_…\" }}
      }}
    }}
  }}

or let `wheelhouse mcp install claude-code|codex|gemini|opencode|vscode` write it. Stop with Ctrl-C.
"
    )
}
