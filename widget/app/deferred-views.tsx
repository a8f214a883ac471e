/** deferred-views.tsx: the views that an empty conversation doesn't need, loaded after the first view. */

export { ConversationView } from "../../client/app/conversation-view.tsx"
export { NoticeBar } from "../../client/app/notice.tsx"
export { keepFocus } from "../../client/ui/kept-focus/keep-focus.ts"
