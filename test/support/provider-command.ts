/**
 * provider-command.ts: `npm run provider` starts the tests' OpenID provider, so that developers can try the page's
 * sign-in on their machine.
 *
 * Options: `--url` (the page's URL), `--name` (the tenant's name for the issuer), `--port`. The provider's keys are
 * lost when it stops; after a restart, the server fetches the new keys. docs/tenants.md describes the steps.
 */

import process from "node:process"
import { parseArgs } from "node:util"
import { CLIENT_ID, CLIENT_SECRET, startOidcProvider } from "./oidc-provider.ts"

const { values } = parseArgs({
  options: {
    url: { type: "string", default: "http://127.0.0.1:8787" },
    name: { type: "string", default: "local" },
    port: { type: "string", default: "8790" },
  },
})
const { issuer } = await startOidcProvider({
  redirectUris: [`${values.url}/auth/callback/${values.name}`],
  port: Number(values.port),
}).catch((error: Error) => {
  console.error(`The provider cannot start: ${error.message}. Choose another port with --port.`)
  process.exit(1)
})
const registration = {
  issuer,
  audience: "https://api.example.com",
  client_id: CLIENT_ID,
  client_secret: CLIENT_SECRET,
  label: "Local test provider",
  role_claim: "role",
  roles: ["owner", "admin", "member", "viewer"],
}
console.log(`OpenID provider: ${issuer} (stop it with Ctrl+C)

Register it with an owner's API key of the tenant:

curl -X PUT ${values.url}/v1/issuers/${values.name} -H "Authorization: Bearer $CUECARD_KEY" \\
  -H "Content-Type: application/json" -d '${JSON.stringify(registration)}'

Then open ${values.url} and enter any name and password. In a name such as owner-ada,
the first word is the user's role.`)
