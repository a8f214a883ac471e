/** deferred-views.tsx: the views that an empty conversation doesn't need, loaded after the initial render. */

export { ConversationView } from "../../client/app/conversation-view.tsx"
