/*
 * emu_atomic.h: atomic operations. Threads take turns only at barriers and
 * collectives, so that plain code is atomic here; the race build is told that
 * these accesses may meet.
 */
#pragma once

namespace emu
{
/* *at = change(*at); returns the value before. */
template <class T, class Change> EMU_RAW inline T atomic_change(T *at, Change change)
{
    note_access(at, sizeof(T), true, true);
    const T before = *at;
    *at = change(before);
    return before;
}

/* An argument that converts to T and takes no part in finding it. */
template <class T> using Same = typename std::common_type<T>::type;
} // namespace emu

#define EMU_ATOMIC(name, result)                                                                   \
    template <class T> EMU_RAW static inline T name(T *at, emu::Same<T> value)                     \
    {                                                                                              \
        return emu::atomic_change(at, [value](T old) EMU_RAW { return T(result); });               \
    }
EMU_ATOMIC(atomicAdd, old + value)
EMU_ATOMIC(atomicSub, old - value)
EMU_ATOMIC(atomicMin, value < old ? value : old)
EMU_ATOMIC(atomicMax, old < value ? value : old)
EMU_ATOMIC(atomicExch, ((void)old, value))
EMU_ATOMIC(atomicAnd, old &value)
EMU_ATOMIC(atomicOr, old | value)
EMU_ATOMIC(atomicXor, old ^ value)
#undef EMU_ATOMIC

template <class T>
EMU_RAW static inline T atomicCAS(T *at, emu::Same<T> expected, emu::Same<T> value)
{
    return emu::atomic_change(at, [=](T old) EMU_RAW { return old == expected ? T(value) : old; });
}
