/* conversation.h: the messages of a chat: they grow, are saved, and lose their
 * oldest when the model's context is full. */
#ifndef CONVERSATION_H
#define CONVERSATION_H

#include "dllm.h"

/* Messages and texts are owned; zeroed at first. */
struct conversation {
    struct dllm_message *messages;
    size_t count, capacity;
};

/* Adds a copy of the text; role is a static string. False without memory. */
bool conversation_add(struct conversation *conversation, const char *role, struct dllm_string text);

/* Takes the last message off, if there is one. */
void conversation_pop(struct conversation *conversation);

/* Drops the oldest turn: the first message that is no system message, and those
 * behind it up to the next of the user's. False if only the last turn is left. */
bool conversation_drop_oldest(struct conversation *conversation);

/* Forgets all but a system message at the start. */
void conversation_reset(struct conversation *conversation);

/* Writes what --messages reads. 0, or the exit code after a message. */
int conversation_save(const struct conversation *conversation, const char *path);

/* Accepts a zeroed one. */
void conversation_free(struct conversation *conversation);

#endif
