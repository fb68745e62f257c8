/** Every operator of the builder, under one name. */

export * from './elementwise'
export * from './linear'
export * from './nn'
export * from './quantized'
export * from './reduce'
export * from './shape'
